"""``affectlab reliability``: can the answers be trusted? One module per verb."""
