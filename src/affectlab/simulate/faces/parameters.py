"""What a drawn face does: action-unit-like parameters, all zero at rest."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from affectlab.core.errors import check_choices, check_number

_SIGNED = (
    "brow_raise", "brow_inner", "brow_outer", "brow_left", "brow_right", "eye_open", "gaze_x",
    "gaze_y", "lip_corner", "lip_stretch", "corner_left", "corner_right", "head_tilt", "head_pitch",
)  # fmt: skip
"""Parameters that go both ways."""


@dataclass(frozen=True, slots=True)
class FaceParameters:
    """Offsets from the face at rest; 0 is rest, 1 the strongest movement drawn.

    Signed parameters lie in [-1, 1], the others in [0, 1]. Left and right are those of the person
    drawn, so the left side appears at the right of the picture. Numbers such as AU12 are the
    action units of the Facial Action Coding System (Ekman, Friesen and Hager, 2002) that a
    parameter resembles.

    Raises
    ------
    InputError
        When a parameter is not finite or out of its range.

    Examples
    --------
    >>> smirk = FaceParameters(lip_corner=0.2, corner_left=0.6)
    >>> smirk.mirrored().corner_right
    0.6
    >>> smirk.scaled(0.5).lip_corner
    0.1
    """

    brow_raise: float = 0.0
    """Whole brow up (AU1 and AU2) or down (AU4)."""
    brow_inner: float = 0.0
    """Inner end of the brow up (AU1) or down."""
    brow_outer: float = 0.0
    """Outer end of the brow up (AU2) or down."""
    brow_pinch: float = 0.0
    """Brows drawn together, with furrows (AU4)."""
    eye_open: float = 0.0
    """Upper lid up (AU5); -1 is a closed eye (AU43)."""
    eye_squint: float = 0.0
    """Lower lid up (AU7)."""
    lid_droop: float = 0.0
    """Outer half of the upper lid hangs."""
    gaze_x: float = 0.0
    """Gaze to the person's left (positive) or right."""
    gaze_y: float = 0.0
    """Gaze up (positive) or down."""
    cheek_raise: float = 0.0
    """Cheek pushed up under the eye (AU6)."""
    nose_wrinkle: float = 0.0
    """Nose wrinkled, wings up (AU9)."""
    upper_lip: float = 0.0
    """Upper lip raised (AU10)."""
    lip_corner: float = 0.0
    """Lip corners up (AU12) or down (AU15)."""
    lip_stretch: float = 0.0
    """Mouth stretched wide (AU20) or rounded (AU18)."""
    lip_press: float = 0.0
    """Lips pressed thin (AU24)."""
    mouth_open: float = 0.0
    """Lips apart (AU25)."""
    jaw_drop: float = 0.0
    """Jaw and chin down (AU26, AU27)."""
    mouth_square: float = 0.0
    """Opening more rectangular than almond-shaped."""
    teeth_upper: float = 0.0
    """Upper teeth shown in the opening."""
    teeth_lower: float = 0.0
    """Lower teeth shown in the opening."""
    chin_raise: float = 0.0
    """Chin boss pushed up (AU17)."""
    blush: float = 0.0
    """Colour in the cheeks."""
    head_tilt: float = 0.0
    """Head rolled to the person's left (positive) or right, 1 is 12 degrees."""
    head_pitch: float = 0.0
    """Head up (positive) or down."""
    brow_left: float = 0.0
    """Added to `brow_raise` on the left."""
    brow_right: float = 0.0
    """Added to `brow_raise` on the right."""
    wink_left: float = 0.0
    """Closes the left eye only."""
    wink_right: float = 0.0
    """Closes the right eye only."""
    corner_left: float = 0.0
    """Added to `lip_corner` on the left."""
    corner_right: float = 0.0
    """Added to `lip_corner` on the right."""

    def __post_init__(self) -> None:
        for field in fields(self):
            low = -1 if field.name in _SIGNED else 0
            check_number(f"face parameter {field.name}", getattr(self, field.name), low, 1)

    @classmethod
    def from_mapping(cls, values: dict[str, float], *, where: str = "") -> FaceParameters:
        """Make parameters from names and numbers; an unknown name is an error with a hint."""
        known = [field.name for field in fields(cls)]
        check_choices("face parameter", values, known, where)
        return cls(**values)

    def scaled(self, intensity: float) -> FaceParameters:
        """Give the face between rest (0) and this one (1)."""
        return FaceParameters(
            **{field.name: intensity * getattr(self, field.name) for field in fields(self)}
        )

    def blended(self, other: FaceParameters, share: float) -> FaceParameters:
        """Give the face at `share` of the way from this one to `other`."""
        return FaceParameters(
            **{
                field.name: (1.0 - share) * getattr(self, field.name)
                + share * getattr(other, field.name)
                for field in fields(self)
            }
        )

    def mirrored(self) -> FaceParameters:
        """Swap left and right."""
        return replace(
            self,
            gaze_x=-self.gaze_x,
            head_tilt=-self.head_tilt,
            brow_left=self.brow_right,
            brow_right=self.brow_left,
            wink_left=self.wink_right,
            wink_right=self.wink_left,
            corner_left=self.corner_right,
            corner_right=self.corner_left,
        )
