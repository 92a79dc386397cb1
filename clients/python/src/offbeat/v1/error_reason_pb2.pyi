from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor
ERROR_REASON_CONTRADICTORY: ErrorReason
ERROR_REASON_DEADLINE_EXCEEDED: ErrorReason
ERROR_REASON_FIELD_MISSING: ErrorReason
ERROR_REASON_ID_TYPE_UNSUITABLE: ErrorReason
ERROR_REASON_KINDS_DO_NOT_FIT: ErrorReason
ERROR_REASON_MALFORMED: ErrorReason
ERROR_REASON_MESSAGE_TOO_LARGE: ErrorReason
ERROR_REASON_OUT_OF_RANGE: ErrorReason
ERROR_REASON_OVERLOADED: ErrorReason
ERROR_REASON_SHUTTING_DOWN: ErrorReason
ERROR_REASON_SLOT_COUNT_DOES_NOT_DIVIDE: ErrorReason
ERROR_REASON_UNKNOWN_METHOD: ErrorReason
ERROR_REASON_UNSPECIFIED: ErrorReason

class ErrorReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
