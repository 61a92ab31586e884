"""How functions are offered: loaded when they are used, described by their signatures."""
