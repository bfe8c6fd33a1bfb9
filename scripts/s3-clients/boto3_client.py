"""Tests with boto3 what stock programs rely on, following ceph/s3-tests. Fails at the first difference."""

import filecmp
import os
import ssl
import sys
import tempfile
import urllib.error
import urllib.request

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError, ParamValidationError

endpoint, bucket, files, ca_file = sys.argv[1:]
addressing = {"addressing_style": "path"}
s3 = boto3.client("s3", endpoint_url=endpoint, config=Config(s3=addressing, retries={"max_attempts": 1}))
MIB = 1024 * 1024


def put(key, body=b"hello", **more):
    return s3.put_object(Bucket=bucket, Key=key, Body=body, **more)


def get(key, **more):
    return s3.get_object(Bucket=bucket, Key=key, **more)


def refused(status, code, call, **arguments):
    try:
        call(Bucket=bucket, **arguments)
    except ParamValidationError as error:
        assert "Unknown parameter" in str(error), error  # This boto3 is too old for the argument.
        return
    except ClientError as error:
        answer = error.response
        found = (answer["ResponseMetadata"]["HTTPStatusCode"], answer["Error"]["Code"])
        assert found == (status, code), (found, (status, code), arguments)
        return
    raise AssertionError(f"not refused: {arguments}")


def keys(page):
    return [item["Key"] for item in page.get("Contents", [])]


def prefixes(page):
    return [item["Prefix"] for item in page.get("CommonPrefixes", [])]


def lists():
    names = ["asdf", "boo/bar", "boo/baz/xyzzy", "cquux/thud", "cquux/bla", "foo+1/bar", "quux ab/thud", "b%20/a", "_/x"]
    for name in names:
        put(name)
    for version, call in (1, s3.list_objects), (2, s3.list_objects_v2):
        assert keys(call(Bucket=bucket)) == sorted(names)
        assert call(Bucket=bucket, MaxKeys=0)["IsTruncated"] is False
        folded = call(Bucket=bucket, Delimiter="/", EncodingType="url")
        assert keys(folded) == ["asdf"], folded
        assert "foo%2B1/" in prefixes(folded) and "quux%20ab/" in prefixes(folded), prefixes(folded)
        assert prefixes(call(Bucket=bucket, Prefix="boo/", Delimiter="/")) == ["boo/baz/"]
        assert prefixes(call(Bucket=bucket, Delimiter="a")) == ["a", "b%20/a", "boo/ba", "cquux/bla", "foo+1/ba", "quux a"]
        assert keys(call(Bucket=bucket, Prefix="\x0a")) == keys(call(Bucket=bucket, Prefix="none")) == []
        assert keys(call(Bucket=bucket, Delimiter="\x0a")) == sorted(names)
        after = {"Marker": "blah"} if version == 1 else {"StartAfter": "blah"}
        assert keys(call(Bucket=bucket, **after)) == [name for name in sorted(names) if name > "blah"]
        seen = []
        for page in s3.get_paginator(call.__name__).paginate(Bucket=bucket, Delimiter="/", PaginationConfig={"PageSize": 1}):
            seen += keys(page) + prefixes(page)
        assert seen == ["_/", "asdf", "b%20/", "boo/", "cquux/", "foo+1/", "quux ab/"], seen
    first = s3.list_objects_v2(Bucket=bucket, ContinuationToken="")
    assert first["ContinuationToken"] == "" and keys(first) == sorted(names)
    both = s3.list_objects_v2(Bucket=bucket, StartAfter="boo", MaxKeys=1)
    both = s3.list_objects_v2(Bucket=bucket, StartAfter="boo", ContinuationToken=both["NextContinuationToken"])
    assert both["StartAfter"] == "boo" and keys(both)[0] == "boo/baz/xyzzy"
    refused(400, "InvalidArgument", s3.list_objects_v2, ContinuationToken="nonsense")
    owner = s3.list_objects_v2(Bucket=bucket, FetchOwner=True)["Contents"][0]["Owner"]["ID"]
    assert owner == s3.get_bucket_acl(Bucket=bucket)["Owner"]["ID"]
    versions = s3.list_object_versions(Bucket=bucket)["Versions"]
    assert [item["Key"] for item in versions] == sorted(names)


def objects():
    stored = put("about", ContentType="text/x-test", CacheControl="max-age=1", Metadata={"one": "1", "empty": ""})
    head = s3.head_object(Bucket=bucket, Key="about")
    assert head["ETag"] == stored["ETag"] and head["ContentType"] == "text/x-test", head
    assert head["Metadata"] == {"one": "1", "empty": ""} and head["CacheControl"] == "max-age=1", head
    for asked, body in ("bytes=1-2", b"el"), ("bytes=-2", b"lo"), ("bytes=3-", b"lo"), ("bytes=3-99", b"lo"):
        part = get("about", Range=asked)
        assert (part["ResponseMetadata"]["HTTPStatusCode"], part["Body"].read()) == (206, body), asked
    ranged = s3.head_object(Bucket=bucket, Key="about", Range="bytes=1-2")
    assert (ranged["ResponseMetadata"]["HTTPStatusCode"], ranged["ContentLength"]) == (206, 2)
    put("none", b"")
    for key in "about", "none":
        refused(416, "InvalidRange", s3.get_object, Key=key, Range="bytes=40-50")
    refused(412, "PreconditionFailed", s3.get_object, Key="about", IfMatch='"x"')
    refused(304, "304", s3.get_object, Key="about", IfNoneMatch=stored["ETag"])
    refused(412, "PreconditionFailed", s3.put_object, Key="about", IfNoneMatch="*")
    refused(412, "PreconditionFailed", s3.put_object, Key="about", IfNoneMatch=stored["ETag"])
    refused(412, "PreconditionFailed", s3.put_object, Key="about", IfMatch='"x"')
    refused(404, "NoSuchKey", s3.put_object, Key="absent", IfMatch='"x"')
    refused(404, "NoSuchKey", s3.get_object, Key="absent")
    refused(400, "InvalidDigest", s3.put_object, Key="bad", ContentMD5="YWJyYWNhZGFicmE=")
    refused(400, "BadDigest", s3.put_object, Key="bad", Body=b"x", ContentMD5="rL0Y20zC+Fzt72VPzMSk2A==")
    source = {"Bucket": bucket, "Key": "about"}
    s3.copy_object(Bucket=bucket, Key="copy", CopySource=source)
    assert s3.head_object(Bucket=bucket, Key="copy")["Metadata"]["one"] == "1"
    s3.copy_object(Bucket=bucket, Key="copy", CopySource=source, MetadataDirective="REPLACE", Metadata={"two": "2"})
    assert s3.head_object(Bucket=bucket, Key="copy")["Metadata"] == {"two": "2"}
    refused(400, "InvalidRequest", s3.copy_object, Key="about", CopySource=source)
    refused(404, "NoSuchKey", s3.copy_object, Key="x", CopySource={"Bucket": bucket, "Key": "absent"})
    refused(412, "PreconditionFailed", s3.copy_object, Key="x", CopySource=source, CopySourceIfMatch='"x"')
    s3.put_object_acl(Bucket=bucket, Key="about", ACL="private")
    refused(400, "AccessControlListNotSupported", s3.put_object_acl, Key="about", ACL="public-read")
    refused(400, "AccessControlListNotSupported", s3.put_object, Key="x", ACL="public-read")
    refused(400, "AccessControlListNotSupported", s3.create_bucket, ACL="public-read")
    refused(501, "NotImplemented", s3.put_object, Key="x", StorageClass="GLACIER")
    assert s3.get_object_tagging(Bucket=bucket, Key="about")["TagSet"] == []
    attributes = s3.get_object_attributes(Bucket=bucket, Key="about", ObjectAttributes=["ETag", "ObjectSize"])
    assert attributes["ObjectSize"] == 5
    for key in "a b", "ünï/çødé", "plus+", "100%", "a'b", 'q"q', "semi;colon", "a&b=c", "(x)", "[y]", "~t", "_ _", "a,b":
        put(key, key.encode())
        assert get(key)["Body"].read() == key.encode() and keys(s3.list_objects_v2(Bucket=bucket, Prefix=key)) == [key], key


def presigned():
    url = s3.generate_presigned_url("get_object", {"Bucket": bucket, "Key": "about", "ResponseContentType": "text/x"})
    with opened(url) as answer:
        assert (answer.read(), answer.headers["content-type"]) == (b"hello", "text/x")
    with opened(s3.generate_presigned_url("put_object", {"Bucket": bucket, "Key": "by-url"}), b"sent") as answer:
        assert answer.status == 200
    assert get("by-url")["Body"].read() == b"sent"
    try:
        opened(url.replace("about", "copy"))
    except urllib.error.HTTPError as error:
        assert error.code == 403
    else:
        raise AssertionError("a URL opens another key")


def opened(url, body=None):
    trust = ssl.create_default_context(cafile=ca_file)
    request = urllib.request.Request(url, data=body, method="GET" if body is None else "PUT")
    return urllib.request.urlopen(request, context=trust)


def parts():
    large = os.path.join(files, "large.bin")
    config = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB)
    s3.upload_file(large, bucket, "large", Config=config, ExtraArgs={"Metadata": {"kind": "large"}})
    s3.copy({"Bucket": bucket, "Key": "large"}, bucket, "large-copy", Config=config)
    with tempfile.TemporaryDirectory() as folder:
        s3.download_file(bucket, "large-copy", f"{folder}/back", Config=config)
        assert filecmp.cmp(large, f"{folder}/back", shallow=False)
    upload = {"Key": "parts", "UploadId": s3.create_multipart_upload(Bucket=bucket, Key="parts")["UploadId"]}
    assert [item["Key"] for item in s3.list_multipart_uploads(Bucket=bucket)["Uploads"]] == ["parts"]
    copied = {"PartNumber": 1, "CopySource": {"Bucket": bucket, "Key": "about"}, **upload}
    refused(416, "InvalidRange", s3.upload_part_copy, CopySourceRange="bytes=0-21", **copied)
    refused(400, "InvalidArgument", s3.upload_part_copy, CopySourceRange="bytes=hello-world", **copied)
    tags = [s3.upload_part(Bucket=bucket, PartNumber=number, Body=b"x", **upload)["ETag"] for number in (1, 2)]
    listed = [{"PartNumber": number, "ETag": tag} for number, tag in enumerate(tags, 1)]
    complete = s3.complete_multipart_upload
    refused(400, "EntityTooSmall", complete, MultipartUpload={"Parts": listed}, **upload)
    refused(400, "InvalidPartOrder", complete, MultipartUpload={"Parts": listed[::-1]}, **upload)
    refused(400, "InvalidPart", complete, MultipartUpload={"Parts": [{"PartNumber": 9, "ETag": tags[0]}]}, **upload)
    refused(400, "MalformedXML", complete, MultipartUpload={"Parts": []}, **upload)
    s3.abort_multipart_upload(Bucket=bucket, **upload)
    refused(404, "NoSuchUpload", s3.abort_multipart_upload, **upload)


def deletions():
    size = s3.head_object(Bucket=bucket, Key="about")["ContentLength"]
    refused(412, "PreconditionFailed", s3.delete_object, Key="about", IfMatchSize=size + 1)
    if "IfMatchSize" in s3.meta.service_model.operation_model("DeleteObject").input_shape.members:
        s3.delete_object(Bucket=bucket, Key="about", IfMatchSize=size)
    s3.delete_object(Bucket=bucket, Key="about")
    for number in range(1003):
        put(f"many/{number:04}", b"")
    many = [key for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket) for key in keys(page)]
    everything = [{"Key": key} for key in many]
    refused(400, "MalformedXML", s3.delete_objects, Delete={"Objects": everything})
    assert "Deleted" not in s3.delete_objects(Bucket=bucket, Delete={"Objects": everything[:1000], "Quiet": True})
    assert len(s3.delete_objects(Bucket=bucket, Delete={"Objects": everything[1000:]})["Deleted"]) == len(many) - 1000
    assert keys(s3.list_objects_v2(Bucket=bucket)) == []


for step in lists, objects, presigned, parts, deletions:
    step()
