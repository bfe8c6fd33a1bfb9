"""Writes a bundle of this many files, verifies it in a process of its own, and prints what that took.

    python3 long_bundle.py 1000000 [no_names]
"""

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import svc_verify as svc  # noqa: E402

VERIFIER = svc.__file__
CHUNK = 1000


def write_bundle(path, count, is_redacted):
    """An unsigned statement: nothing depends on the key, and everything is computed before it is asked for."""
    files, lines = svc.FileList(), []
    name = "leaf_hashes" if is_redacted else "files"
    with open(path, "w", encoding="utf-8") as out:
        out.write(f'{{"{name}":[')
        for number in range(count):
            content = hashlib.sha256(str(number).encode()).hexdigest()
            entry = {"filename": f"photos/2026/a folder/img-{number:08}.jpg", "size_bytes": number, "content_hash": content}
            files.commit(tuple(entry.values()))
            leaf = svc.leaf_hash(*entry.values())
            lines.append(json.dumps(leaf if is_redacted else entry, separators=(",", ":")))
            if len(lines) == CHUNK or number == count - 1:
                out.write(("," if number >= CHUNK else "") + ",".join(lines))
                lines = []
        files.held = None
        files.finish()
        out.write("]," + json.dumps(rest_of(files, is_redacted))[1:])


def rest_of(files, is_redacted):
    body = {
        "schema": svc.EVIDENCE, "policy_version": 1, "proof_id": "0" * 32, "sequence": 1, "prev_statement_digest": None,
        "merkle_algorithm": svc.MERKLE, "merkle_root": "sha256:" + files.root, "file_count": files.count,
        "manifest_file_count": files.count, "total_bytes": str(files.bytes),
        "manifest_digest": "sha256:" + files.manifest_digest, "check_mode": "recorded_hashes",
        "issued_at": "2026-06-12T00:00:00Z", "issued_at_unix": 1781222400, "issuer_key_id": "unsigned", "nonce": "1" * 32,
    }
    row = {"domain": "svc/snapshot/v2", "proof_id": body["proof_id"], "merkle_root": files.root,
           "manifest_digest": files.manifest_digest, "file_count": files.count}
    body["snapshot_id"] = svc.sha256_hex(svc.canonical(row))
    envelope = {"body": body, "statement_digest": svc.sha256_hex(svc.canonical(body)), "signature": None,
                "issuer_pubkey": None, "sig_alg": "none"}
    algorithms = {"merkle": svc.MERKLE, "envelope": svc.EVIDENCE}
    if is_redacted:
        return {"schema": svc.REDACTED, "redaction": "no_names", "algorithms": algorithms, "envelope": envelope}
    copied = ("merkle_root", "file_count", "manifest_file_count", "total_bytes", "check_mode")
    commitment = {**{name: body[name] for name in copied}, "attested_at": body["issued_at"]}
    return {"schema": svc.WHOLE, "bundle_version": 2, "proof_id": body["proof_id"], "algorithms": algorithms,
            "commitment": commitment, "envelope": envelope, "v1_signature": None, "anchor": None}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bundle.json")
        write_bundle(path, int(sys.argv[1]), sys.argv[2:] == ["no_names"])
        began = time.monotonic()
        run = subprocess.run([sys.executable, VERIFIER, path, "--json"], capture_output=True, text=True, check=False)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        facts = json.loads(run.stdout)["bundles"][0]["facts"]
        print(json.dumps({
            "megabytes": round(os.path.getsize(path) / 1e6), "seconds": round(time.monotonic() - began, 1),
            "processor_seconds": round(usage.ru_utime + usage.ru_stime, 1), "peak_megabytes": round(usage.ru_maxrss / 1024),
            **{name: facts[name]["value"] for name in ("merkle_root_matches", "envelope_binds_commitment")}}))
