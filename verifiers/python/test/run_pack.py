"""Verifies the conformance pack, or bundles that come as lines.

    python3 run_pack.py             how many cases and chains of this repository agree, and each that does not
    python3 run_pack.py FOLDER      a line of JSON for each of the cases and chains of FOLDER/bundles, and FOLDER/transparency
    python3 run_pack.py --lines     {"bundle": base64, "given": …, "answers": …} in, its facts and verdict out

A line of the pack has `name`, `expected` and `found`.
"""

import base64
import json
import os
import sys
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import svc_verify as svc  # noqa: E402


def given_of(given, answers):
    keys = given.get("pinned_keys", [])
    return svc.Given(
        pinned=svc.read_pinned_keys(keys if isinstance(keys, list) else [keys]),
        signers=given.get("pinned_signers", []),
        domain_tag=given.get("domain_tag", svc.DOMAIN_TAG),
        audience=given.get("audience"),
        logs=[svc.read_log_key(key) for key in given.get("log_keys", [])],
        policy=svc.read_policy(given["policy"]) if "policy" in given else None,
        folder=svc.TextFolder(given["files"]) if "files" in given else None,
        node=None if answers is None else svc.Node(answers))


def outcome(data, given, has_verdict=False):
    try:
        verification = svc.verify(svc.bytes_reader(data), given)
    except svc.Refused as refused:
        return {"refused": refused.code}
    facts = {name: value for name, (value, _) in verification.facts.items()}
    return {**facts, "verdict": svc.verdict_of(verification.facts)} if has_verdict else facts


class Pack:
    def __init__(self, folder):
        self.folder = folder

    def read(self, *path):
        with open(os.path.join(self.folder, *path), "rb") as file:
            return file.read()

    def json(self, *path):
        return json.loads(self.read(*path))

    def given(self, given):
        return given_of(given, self.json("bundles", given["rpc"]) if "rpc" in given else None)

    def bundles(self):
        index = self.json("bundles", "index.json")
        for case in index["cases"]:
            yield case["name"], case["expect"], outcome(self.read("bundles", case["file"]), self.given(case["given"]))
        for case in index["refused_keys"]:
            yield "keys: " + case["what"], "refused", refusal_of(svc.read_pinned_keys, [case["list"]])
        for chain in index["chains"]:
            given = self.given(chain["given"])
            verified = [svc.verify(svc.bytes_reader(self.read("bundles", file)), given) for file in chain["files"]]
            yield "chain: " + chain["what"], chain["expect"], svc.verify_chain(verified)

    def transparency(self):
        published = self.json("transparency", "published.json")
        for trees in (self.json("transparency", "trees.json"), published["trees"]):
            yield from tree_cases(trees)
        notes = self.json("transparency", "notes.json")
        for case in notes["keys"]:
            key = svc.read_note_key(case["key"])
            yield "key: " + case["what"], case["type"], key and {1: "log", 4: "cosigner"}[key.kind]
        for case in notes["notes"] + published["notes"]:
            note, key = svc.read_note(case["note"]), svc.read_note_key(case["key"])
            yield "note: " + case["what"], case["signed"], note.signed_by(key) if key.kind == 1 else (
                note.cosigned_by(key) is not None)
        for case in notes["refused"]:
            yield "refused note: " + case["what"], None, svc.read_note(case["note"])
        for case in self.json("transparency", "checkpoints.json"):
            head = svc.read_checkpoint(case["checkpoint"])
            found = head and {"origin": head.origin, "size": head.size, "root": head.root.hex()}
            wanted = case["head"] and {name: case["head"][name] for name in ("origin", "size", "root")}
            yield "checkpoint: " + case["what"], wanted, found
        for case in self.json("transparency", "proofs.json"):
            proof = svc.read_log_proof(case["proof"])
            found = "refused" if proof is None else (
                "proven" if proof.proves(bytes.fromhex(case["entry"])) else "not_proven")
            yield "proof: " + case["what"], case["outcome"], found
        policies = self.json("transparency", "policies.json")
        for case in policies["verdicts"] + published["verdicts"]:
            yield "policy: " + case["what"], {name: case[name] for name in ("log", "cosigned", "quorum")}, verdict(case)
        for case in policies["refused"]:
            yield "refused policy: " + case["what"], "refused", refusal_of(svc.read_policy, case["policy"])


def tree_cases(trees):
    for case in trees["inclusion"]:
        proof = [bytes.fromhex(text) for text in case["proof"]]
        entry, root = bytes.fromhex(case["entry"]), bytes.fromhex(case["root"])
        yield "inclusion: " + case["what"], case["holds"], svc.inclusion_holds(
            case["index"], case["size"], entry, proof, root)
    for case in trees["consistency"]:
        proof = [bytes.fromhex(text) for text in case["proof"]]
        earlier, later = case["earlier"], case["later"]
        yield "consistency: " + case["what"], case["holds"], svc.consistency_holds(
            earlier["size"], bytes.fromhex(earlier["root"]), later["size"], bytes.fromhex(later["root"]), proof)


def verdict(case):
    policy, checkpoint = svc.read_policy(case["policy"]), svc.read_checkpoint(case["checkpoint"])
    logs = [key.name for key in policy.logs if key.name == checkpoint.origin and checkpoint.note.signed_by(key)]
    cosigned = [{"name": key.name, "time": time} for key, time in policy.cosigned(checkpoint.note)]
    return {"log": logs[0] if logs else None, "cosigned": cosigned, "quorum": policy.has_quorum(checkpoint.note)}


def refusal_of(read, value):
    try:
        read(value)
    except svc.Unusable:
        return "refused"
    return "accepted"


def answer_lines():
    for line in sys.stdin:
        request = json.loads(line)
        try:
            given = given_of(request["given"], request.get("answers"))
            found = outcome(base64.b64decode(request["bundle"]), given, has_verdict=True)
        except svc.Unusable:
            found = {"unusable": "given"}
        except Exception as error:  # a defect of the verifier, which the comparison shows
            found = {"raised": f"{type(error).__name__} in line {error.__traceback__.tb_next.tb_lineno}: {error}"}
            traceback.print_exc()
        print(json.dumps(found), flush=True)


def outcomes_of(folder):
    pack = Pack(folder)
    yield from pack.bundles()
    yield from pack.transparency()


def summarize(folder):
    """Whether all agree."""
    outcomes = list(outcomes_of(folder))
    wrong = [(name, expected, found) for name, expected, found in outcomes if expected != found]
    for name, expected, found in wrong:
        print(f"{name}: expected {expected}, found {found}")
    print(f"{len(outcomes) - len(wrong)} of {len(outcomes)} agree")
    return not wrong


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit(0 if summarize(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../vectors")) else 1)
    elif arguments[0] == "--lines":
        answer_lines()
    else:
        for name, expected, found in outcomes_of(arguments[0]):
            print(json.dumps({"name": name, "expected": expected, "found": found}))
