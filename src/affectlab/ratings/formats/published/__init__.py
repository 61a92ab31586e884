"""Files as papers have published them, and of the subject model of video quality."""
