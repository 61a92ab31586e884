"""Changes of the tables from version to version, which alembic runs."""
