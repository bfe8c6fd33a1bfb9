// Every value of vectors/protocol.json, which a second implementation computed, and wrong values that must not result.
import { describe, expect, it } from 'vitest'
import vectors from '../../../vectors/protocol.json' with { type: 'json' }
import { anchorMemo, anchorPayload } from '../src/anchor.ts'
import { isManifestSignedBy, isUnsigned, manifestSignature, resultHash } from '../src/attestation.ts'
import { asciiBytes, bare, fromHex, toBase58, toHex, utf8, withPrefix } from '../src/bytes.ts'
import { canonicalBytes, canonicalJson, type Json } from '../src/canonical.ts'
import {
  type EvidenceEnvelope,
  isStatementSignedBy,
  issueStatement,
  statementDigest,
  statementMessage,
} from '../src/evidence.ts'
import {
  attCode,
  evmRegistryKey,
  issuerKeyId,
  lockerId,
  manifestDigest,
  paymentAttCode,
  paymentReference,
  receiptId,
  snapshotId,
} from '../src/ids.ts'
import {
  ed25519PublicKeyFromBase58,
  ed25519PublicKeyFromHex,
  ed25519Signer,
  evmAddressOf,
  personalSignDigest,
} from '../src/keys.ts'
import { foldProof, leafHash, merkleLevels, merkleProof, merkleRoot, treeDepth } from '../src/merkle.ts'
import { DEFAULT_DOMAIN_TAG, domainTagBytes } from '../src/names.ts'
import { compareUtf16, sortedByFilename } from '../src/order.ts'
import { isReceiptSignedBy, type Receipt, receiptMessage, signReceipt } from '../src/receipt.ts'
import {
  attestationAddress,
  closeInstructionData,
  createInstructionData,
  decodeRecord,
  encodeRecord,
  REGISTRY_LAYOUT,
  REGISTRY_PROGRAM,
  readRegistryAccount,
  registryAddresses,
  registryNonce,
  registryRecord,
} from '../src/registry.ts'
import {
  decodeEnvelope,
  encodeEnvelope,
  envelopeRejection,
  isPersonallySignedBy,
  isSignedBy,
  personalSignEnvelope,
  signEnvelope,
} from '../src/request-envelope.ts'
import { mintToken, readToken } from '../src/short-url.ts'
import { parseStrictJson } from '../src/strict-json.ts'

const { keys } = vectors
const bytes = (hex: string) => fromHex(hex) as Uint8Array
const statementSigner = ed25519Signer(bytes(keys.statement_signing.seed_hex))
const statementKey = ed25519PublicKeyFromHex(keys.statement_signing.public_key_hex)!
const filesOf = (names: string[]) => names.map((name) => vectors.files.find((file) => file.filename === name)!)

describe('keys', () => {
  it.each(['statement_signing', 'publication', 'short_url', 'owner_ed25519', 'operator_ed25519'] as const)(
    'EVID-04 %s has the expected public key',
    (name) => {
      const key = keys[name]
      const { publicKey } = ed25519Signer(bytes(key.seed_hex))
      expect(toHex(publicKey)).toBe(key.public_key_hex)
      if ('base58' in key) expect(toBase58(publicKey)).toBe(key.base58)
      if ('issuer_key_id' in key) expect(issuerKeyId(key.public_key_hex)).toBe(key.issuer_key_id)
    },
  )

  it('ENV-11 the EVM key has the expected address', () => {
    expect(evmAddressOf(bytes(keys.owner_evm.private_key_hex))).toBe(keys.owner_evm.address_lowercase)
  })
})

describe('ids', () => {
  it('LOCK-01 locker ids match', () => {
    for (const { receipt_id, locker_id } of [vectors.locker_id, ...vectors.locker_id.more]) {
      expect(lockerId(receipt_id)).toBe(locker_id)
    }
  })

  it('PAY-52 receipt ids match', () => {
    for (const { pay_req_id, receipt_id, ...given } of vectors.receipt_id_proposal.cases) {
      expect(receiptId(pay_req_id, given.tx)).toBe(receipt_id)
      if (given.tx_as_sent) expect(receiptId(pay_req_id, given.tx_as_sent)).toBe(receipt_id)
    }
  })

  it('ADD-03 payment references match', () => {
    for (const { pay_req_id, payment_reference } of vectors.payment_reference.cases) {
      expect(paymentReference(pay_req_id)).toBe(payment_reference)
    }
  })

  it('ADD-13 T-33 a payment reference in place of the pay_req_id does not give the receipt id', () => {
    for (const { pay_req_id, tx, receipt_id } of vectors.receipt_id_proposal.cases) {
      const reference = paymentReference(pay_req_id)
      const bare32 = reference.slice(4)
      for (const guess of [reference, bare32, `pr_${bare32}`]) expect(receiptId(guess, tx)).not.toBe(receipt_id)
      expect(reference).not.toContain(pay_req_id.slice(3))
    }
  })

  it('ATT-18 the payment code matches', () => {
    const { receipt } = vectors.receipt_signature_proposal
    expect(paymentAttCode(receipt)).toBe(vectors.payment_att_code_proposal.att_code)
  })

  it('ANCH-12 EVM registry keys match', () => {
    const { receipt_id, key_16_bytes, more } = vectors.evm_registry
    for (const row of [{ receipt_id, key_16_bytes }, ...more]) {
      expect(evmRegistryKey(row.receipt_id)).toBe(row.key_16_bytes)
    }
  })
})

describe.each(vectors.merkle.sets)('MERK-02 MERK-09 tree of $file_count files', (set) => {
  const files = sortedByFilename(filesOf(set.input_order_filenames))
  const leaves = files.map(leafHash)
  const levels = merkleLevels(leaves)
  const root = merkleRoot(leaves)

  it('MERK-04 is sorted by code point', () => {
    expect(files.map((file) => file.filename)).toEqual(set.sorted_filenames)
  })

  it('MERK-05 MERK-06 has the expected leaves, levels and root', () => {
    expect(leaves).toEqual(set.leaves.map((leaf) => leaf.leaf_hash))
    expect(levels).toEqual(set.levels)
    expect(root).toBe(set.bare_root)
    expect(withPrefix(root)).toBe(set.merkle_root)
    expect(treeDepth(leaves.length)).toBe(set.tree_depth)
  })

  it('MERK-18 MERK-20 has the expected proofs', () => {
    for (const expected of set.proofs) {
      const proof = merkleProof(levels, expected.leaf_index)
      expect(proof).toEqual(expected.proof)
      expect(foldProof(expected.leaf_hash, proof)).toBe(bare(expected.merkle_root))
    }
  })

  it('MERK-12 MERK-13 has the expected result_hash and att_code', () => {
    const hash = resultHash(vectors.merkle.locker_id, files)
    expect(hash).toBe(set.result_hash.result_hash)
    expect(attCode(hash)).toBe(set.result_hash.att_code)
    expect(hash).not.toBe(set.debug_wrong.result_hash_if_prefix_kept)
    expect(attCode(hash)).not.toBe(set.debug_wrong.att_code_if_prefix_kept)
    expect(attCode(hash)).not.toBe(set.debug_wrong.att_code_if_taken_from_merkle_root)
  })

  it('MERK-15 MERK-16 has the expected manifest_signature, signed and unsigned', () => {
    const { message_utf8, signature_hex, unsigned_form } = set.manifest_signature
    expect(message_utf8).toBe(root)
    expect(manifestSignature(root, statementSigner)).toBe(signature_hex)
    expect(isManifestSignedBy(statementKey, set.merkle_root, signature_hex)).toBe(true)
    expect(manifestSignature(root, null)).toBe(unsigned_form)
    expect(isUnsigned(unsigned_form)).toBe(true)
    const disguised = [
      unsigned_form.slice('unsigned:'.length).repeat(4),
      `unsigned:${signature_hex}`,
      `${signature_hex} `,
    ]
    for (const text of [unsigned_form, ...disguised])
      expect(isManifestSignedBy(statementKey, set.merkle_root, text), text).toBe(false)
    expect(isUnsigned(signature_hex)).toBe(false)
    expect(unsigned_form).not.toBe(set.debug_wrong.unsigned_form_if_hash_of_raw_root_bytes)
    expect(unsigned_form).not.toBe(set.debug_wrong.unsigned_form_if_hash_of_prefixed_root)
  })

  it('EVID-02 EVID-03 has the expected manifest_digest and snapshot_id', () => {
    const { merkle_root, manifest_digest, snapshot } = set
    expect(manifestDigest(files)).toBe(manifest_digest.manifest_digest)
    const about = { proof_id: vectors.merkle.proof_id, merkle_root, file_count: files.length }
    expect(snapshotId({ ...about, manifest_digest: manifest_digest.manifest_digest })).toBe(snapshot.snapshot_id)
  })

  it('MERK-04 has another root and digest in a wrong order', () => {
    const wrong = [...files].sort((a, b) => compareUtf16(a.filename, b.filename))
    expect(withPrefix(merkleRoot(wrong.map(leafHash)))).toBe(set.debug_wrong.root_if_sorted_by_utf16)
    expect(manifestDigest(wrong)).toBe(set.debug_wrong.manifest_digest_if_utf16_sorted)
  })
})

describe('Merkle edges', () => {
  it('MERK-10 doubling the last leaf does not change the root, so the count must be compared', () => {
    const attack = vectors.merkle.duplicate_leaf_attack
    const leaves = vectors.merkle.sets.find((set) => set.file_count === 3)!.leaves.map((leaf) => leaf.leaf_hash)
    expect(merkleRoot(leaves)).toBe(attack.three_leaves_root)
    expect(merkleRoot([...leaves, leaves[2]!])).toBe(attack.four_leaves_root_last_doubled)
  })

  it('MERK-08 LIM-09 an empty list has no root', () => {
    expect(() => merkleRoot([])).toThrow('empty file list')
    expect(() => merkleLevels([])).toThrow('empty file list')
  })

  it('MERK-11 a colon in a filename allows two preimages', () => {
    const { a, b, leaf_a_preimage, leaf_b_preimage } = vectors.merkle.colon_ambiguity
    expect(leafHash(a)).not.toBe(leafHash(b))
    expect(leaf_a_preimage).not.toBe(leaf_b_preimage)
  })
})

describe('canonical JSON', () => {
  it.each(vectors.canonical_json.accepted)('EVID-05 LIM-08 accepts $name', (accepted) => {
    expect(canonicalJson(accepted.value as Json)).toBe(accepted.canonical)
    expect(toHex(canonicalBytes(accepted.value as Json))).toBe(accepted.canonical_utf8_hex)
  })

  it.each(vectors.canonical_json.rejected)('EVID-06 LIM-08 refuses $why', ({ json_text }) => {
    expect(() => canonicalJson(parseStrictJson(json_text, 100))).toThrow()
  })
})

describe('evidence', () => {
  const { statements, placeholder_tag_variant, unsigned_variant, negative, domain_tag } = vectors.evidence_envelope

  it('EVID-17 the domain tag is 25 bytes', () => {
    expect(DEFAULT_DOMAIN_TAG).toBe(domain_tag.tag)
    expect(toHex(domainTagBytes(domain_tag.tag)!)).toBe(domain_tag.tag_hex)
    expect(domainTagBytes(domain_tag.placeholder)).toBeNull()
  })

  it.each(statements)('EVID-14 EVID-15 a statement over $file_set files matches', (expected) => {
    const envelope = expected.envelope as EvidenceEnvelope
    expect(canonicalJson(envelope.body as unknown as Json)).toBe(expected.canonical_body)
    expect(statementDigest(envelope.body)).toBe(expected.statement_digest)
    expect(toHex(statementMessage(expected.statement_digest, DEFAULT_DOMAIN_TAG))).toBe(expected.message_hex)
    expect(isStatementSignedBy(statementKey, envelope, DEFAULT_DOMAIN_TAG)).toBe(true)
    expect(reissue(envelope)).toEqual(envelope)
    expect(Object.keys(envelope.body)).toHaveLength(17)
  })

  it('EVID-17 the 23-byte placeholder tag gives another signature', () => {
    const digest = statements[0]!.statement_digest
    const message = bytes(toHex(asciiBytes(`${domain_tag.placeholder}\0`)) + digest)
    expect(toHex(message)).toBe(placeholder_tag_variant.message_hex)
    expect(toHex(statementSigner.sign(message))).toBe(placeholder_tag_variant.signature)
    expect(() => statementMessage(digest, domain_tag.placeholder)).toThrow(RangeError)
    const envelope = { ...(statements[0]!.envelope as EvidenceEnvelope), signature: placeholder_tag_variant.signature }
    expect(isStatementSignedBy(statementKey, envelope, DEFAULT_DOMAIN_TAG)).toBe(false)
  })

  it('EVID-04 EVID-08 an unsigned envelope is marked and does not verify as signed', () => {
    const envelope = unsigned_variant.envelope as EvidenceEnvelope
    expect(reissue(envelope)).toEqual(envelope)
    const unsigned = { sig_alg: 'none', signature: null, issuer_pubkey: null, body: { issuer_key_id: 'unsigned' } }
    expect(envelope).toMatchObject(unsigned)
    expect(isStatementSignedBy(statementKey, envelope, DEFAULT_DOMAIN_TAG)).toBe(false)
    const signature = statements[0]!.envelope.signature
    expect(isStatementSignedBy(statementKey, { ...envelope, signature }, DEFAULT_DOMAIN_TAG)).toBe(false)
  })

  it('EVID-16 EVID-09 changed statements do not verify', () => {
    const envelope = statements[0]!.envelope as EvidenceEnvelope
    const [flipped, recounted, policyText, bytesNumber] = negative
    expect(isStatementSignedBy(statementKey, { ...envelope, signature: flipped!.signature! }, DEFAULT_DOMAIN_TAG)).toBe(
      false,
    )
    const body = { ...envelope.body, file_count: 4 }
    expect(statementDigest(body)).toBe(recounted!.statement_digest_of_changed_body)
    expect(isStatementSignedBy(statementKey, { ...envelope, body }, DEFAULT_DOMAIN_TAG)).toBe(false)
    const other = (change: object) => statementDigest({ ...envelope.body, ...change })
    expect(other({ policy_version: '1' })).toBe(policyText!.statement_digest)
    expect(other({ total_bytes: 30 })).toBe(bytesNumber!.statement_digest)
  })

  function reissue({ body, sig_alg }: EvidenceEnvelope): EvidenceEnvelope {
    return issueStatement(
      {
        proofId: body.proof_id,
        sequence: body.sequence,
        previousDigest: body.prev_statement_digest,
        merkleRoot: bare(body.merkle_root),
        fileCount: body.file_count,
        manifestFileCount: body.manifest_file_count,
        totalBytes: BigInt(body.total_bytes),
        manifestDigest: body.manifest_digest,
        checkMode: body.check_mode,
        issuedAtUnix: body.issued_at_unix,
        nonce: body.nonce,
      },
      sig_alg === 'none' ? null : statementSigner,
      DEFAULT_DOMAIN_TAG,
    )
  }
})

describe('anchor payload', () => {
  it.each(vectors.anchor_payload)('ANCH-01 ANCH-02 matches for sequence $payload.seq', (expected) => {
    const statement = vectors.evidence_envelope.statements.find((s) => s.statement_digest === expected.payload.dg)!
    const payload = anchorPayload(statement.envelope as EvidenceEnvelope)
    expect(payload).toEqual(expected.payload)
    expect(toHex(anchorMemo(payload))).toBe(expected.utf8_hex)
    expect(anchorMemo(payload)).toHaveLength(expected.bytes)
  })
})

describe('registry', () => {
  const { sas } = vectors
  const statement = vectors.evidence_envelope.statements[0]!.envelope as EvidenceEnvelope
  const proofId = statement.body.proof_id
  const addresses = registryAddresses(sas.authority, sas.credential_name.value)
  const nonce = registryNonce(proofId)
  const data = encodeRecord(registryRecord(statement))

  it('SAS-01 SAS-02 has the expected program and layout', () => {
    expect(REGISTRY_PROGRAM).toBe(sas.registry_program.base58)
    expect(REGISTRY_LAYOUT.map(([name]) => name)).toEqual(sas.field_names)
    expect(REGISTRY_LAYOUT.map(([, code]) => code)).toEqual(sas.layout_codes)
  })

  it('SAS-04 SAS-05 has the expected addresses and nonces in both modes', () => {
    expect(addresses).toEqual({
      credential: sas.credential.address,
      schema: sas.schema.address,
      eventAuthority: sas.event_authority.address,
    })
    const perSnapshot = registryNonce(proofId, statement.body.snapshot_id)
    expect(toHex(nonce)).toBe(sas.nonce_latest.hex)
    expect(toHex(perSnapshot)).toBe(sas.nonce_per_snapshot.hex)
    expect(attestationAddress(addresses, nonce)).toBe(sas.attestation_latest.address)
    expect(attestationAddress(addresses, perSnapshot)).toBe(sas.attestation_per_snapshot.address)
  })

  it('SAS-03 SAS-07 has the expected record and instructions', () => {
    expect(toHex(data)).toBe(sas.data.hex)
    expect(decodeRecord(data)).toEqual(registryRecord(statement))
    expect(toHex(createInstructionData(nonce, data, 0))).toBe(sas.create_instruction_no_expiry.hex)
    const { expiry, hex } = sas.create_instruction_expiry_one_year
    expect(toHex(createInstructionData(nonce, data, expiry))).toBe(hex)
    expect(toHex(closeInstructionData())).toBe(sas.close_instruction.hex)
  })

  it('SAS-08 reads accounts with and without the trailing token account', () => {
    for (const { hex } of [sas.account_bytes_as_specified, sas.account_bytes_with_trailing_token_account]) {
      expect(readRegistryAccount(bytes(hex))).toEqual({
        nonce: sas.nonce_latest.base58,
        credential: sas.credential.address,
        schema: sas.schema.address,
        record: registryRecord(statement),
        signer: sas.authority,
        expiry: 0,
      })
    }
  })
})

describe('signed requests', () => {
  const { iat, cases } = vectors.signed_requests

  it.each(cases)('ENV-01 ENV-02 match for $name', (request) => {
    const decoded = decodeEnvelope(request['X-Svc-Envelope'])
    if (!decoded.ok) throw new Error(decoded.message)
    const { envelope } = decoded
    expect(new TextDecoder().decode(decoded.bytes)).toBe(request.envelope_json)
    expect(toHex(encodeEnvelope(envelope))).toBe(toHex(utf8(request.envelope_json)))

    if (envelope.sig_alg === 'secp256k1') {
      expect(toHex(personalSignDigest(decoded.bytes))).toBe(request.eip191_digest)
      expect(isPersonallySignedBy(request.signer, decoded.bytes, request['X-Svc-Signature'])).toBe(true)
      expect(personalSignEnvelope(envelope, bytes(keys.owner_evm.private_key_hex)).signature).toBe(
        request['X-Svc-Signature'],
      )
    } else {
      const signer = [keys.owner_ed25519, keys.operator_ed25519].find((key) => key.base58 === request.signer)!
      expect(isSignedBy(ed25519PublicKeyFromBase58(request.signer)!, decoded.bytes, request['X-Svc-Signature'])).toBe(
        true,
      )
      expect(signEnvelope(envelope, ed25519Signer(bytes(signer.seed_hex)))).toEqual({
        envelope: request['X-Svc-Envelope'],
        signature: request['X-Svc-Signature'],
      })
    }
    const { method, request_target: target, body_utf8 } = request
    const facts = { method, target, body: utf8(body_utf8), requiredOps: envelope.ops, now: iat + 1 }
    expect(envelopeRejection(envelope, facts)).toBeNull()
  })
})

describe('short URL tokens', () => {
  const { payload, token, verify_key_hex, tampered_token_expect_403 } = vectors.short_url_token
  const fields = {
    expires: payload.e,
    filename: payload.f,
    lockerId: payload.l,
    method: 'PUT' as const,
    nonce: payload.n,
    provider: payload.p,
  }

  it('SHORT-02 SHORT-03 are minted and read, and refused if they are changed', () => {
    const key = ed25519PublicKeyFromHex(verify_key_hex)!
    expect(mintToken(fields, ed25519Signer(bytes(keys.short_url.seed_hex)))).toBe(token)
    expect([readToken(token, key), readToken(tampered_token_expect_403, key)]).toEqual([fields, null])
  })
})

describe('receipt', () => {
  it('RCPT-07 has a signature over every field', () => {
    const { receipt, message_hex } = vectors.receipt_signature_proposal
    const { receipt_sig, receipt_signer_pubkey, ...unsigned } = receipt
    const signed = signReceipt(unsigned as Receipt, statementSigner)
    expect(toHex(receiptMessage(unsigned as Receipt))).toBe(message_hex)
    expect(signed).toEqual(receipt)
    expect(isReceiptSignedBy(statementKey, signed)).toBe(true)
    for (const field of Object.keys(unsigned).filter((name) => name !== 'result_hash')) {
      expect(isReceiptSignedBy(statementKey, { ...signed, [field]: 'x' })).toBe(false)
    }
  })
})
