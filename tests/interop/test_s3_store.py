"""Firn's S3 store on a real server."""

from suites import passes, start_suite


def test_the_store_keeps_what_every_store_promises(s3):
    # The server's objects are files: to look below one is an error 500 there.
    suite = start_suite("storage", "*/ObjectStoreTest.*/s3-*NothingIsBelowAnObject*", FIRN_TEST_S3_ENDPOINT=s3.uri,
                        AWS_ACCESS_KEY_ID="firn", AWS_SECRET_ACCESS_KEY="firn-secret")
    assert passes(suite) > 0
