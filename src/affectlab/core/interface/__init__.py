"""How functions are offered: loaded when they are used, and with a hint where a name is misspelt."""
