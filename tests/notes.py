"""A handful of notes whose likeness a reader can tell."""

NOTES: dict[str, str | bytes] = {
    "garden/bees.md": "# Bees\n\nA hive of bees swarms in May when the old queen leaves with half of the workers.\n",
    "garden/honey.md": "# Honey\n\nThe bees of one hive make forty pounds of honey in a good year.\n",
    "garden/garlic.md": "# Garlic\n\nPlant garlic before the first frost, three inches deep and a hand apart.\n",
    "house/backup.md": "# Backups\n\nEvery photograph is copied to the second disk each night.\n\n"
    "## Restoring\n\nTo restore a backup, plug in the disk and run `restore_photos`.\n",
    "house/copy.md": "# Backups\n\nEvery photograph is copied to the second disk each night.\n",
    "restore.py": "def restore_photos(disk):\n    return sum(copy(photo) for photo in newest_backup(disk))\n",
}
