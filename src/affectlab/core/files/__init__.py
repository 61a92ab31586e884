"""Files that users write and spreadsheets read: CSV, columns, TOML, and kinds of media."""
