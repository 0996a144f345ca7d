"""As a package azurefunctions-extensions-bindings-* meets a worker: a registry of converters
for its own types."""

import typing


class BlobClient:
    def __init__(self, value):
        self.told = [value.version, value.source, value.content_type, value.content.decode()]


class Converter:
    @classmethod
    def has_trigger_support(cls):
        return True

    @classmethod
    def check_input_type_annotation(cls, pytype):
        return pytype in (BlobClient, typing.List[BlobClient])

    @classmethod
    def decode(cls, data, *, trigger_metadata, pytype):
        if data is None:
            return None
        if data.type == "model_binding_data" and pytype is BlobClient:
            return BlobClient(data.value)
        if data.type == "collection_model_binding_data" and pytype == typing.List[BlobClient]:
            return [BlobClient(one) for one in data.value.model_binding_data]
        raise ValueError(f"unexpected {data.type}")


class Registry:
    @classmethod
    def check_supported_type(cls, annotation):
        return annotation in (BlobClient, typing.List[BlobClient])

    @classmethod
    def get(cls, kind):
        return Converter if kind in ("blob", "blobTrigger") else None


def get_binding_registry():
    return Registry
