"""Files that users write and spreadsheets read: CSV, TOML, and kinds of media."""
