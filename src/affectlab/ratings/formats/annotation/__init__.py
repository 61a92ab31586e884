"""What tools of annotation export."""
