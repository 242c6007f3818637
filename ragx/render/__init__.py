"""All of stdout: JSON documents that keep their schemas, text that a person likes to read; and a run's progress."""
