-- What holds for the SQL of users: it reads the index and nothing else, in bounds of its own, and cannot change that.
SET memory_limit = '1GB';
SET max_temp_directory_size = '4GB';
SET python_enable_replacements = false;
SET enable_external_access = false;
SET lock_configuration = true;
