"""``affectlab evaluate``: do machines agree with people?"""
