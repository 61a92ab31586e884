"""How functions are offered: loaded when used, and with a hint where a name is misspelt."""
