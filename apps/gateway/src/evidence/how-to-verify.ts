// For people who have nothing but the bundle: five steps, a sentence each.

const REBUILD =
  'Sort files by filename in code-point order, hash "{filename}:{size_bytes}:{content_hash}" of each with SHA-256, hash pairs of the hex digests level by level (a last one without a partner pairs with itself), and compare what remains with commitment.merkle_root and the number of leaves with commitment.file_count.'

export function howToVerify(domainTag: string): string[] {
  return [
    REBUILD,
    'Write envelope.body as canonical JSON (RFC 8785, integers only), hash it with SHA-256, and compare the result with envelope.statement_digest.',
    `Put together 58 bytes (the 25 ASCII characters ${domainTag}, a zero byte, and the 32 bytes of the digest) and verify envelope.signature over them by Ed25519 with a key that you did not get from this bundle or its gateway.`,
    'Compare envelope.body.merkle_root and envelope.body.file_count with what the first step gave.',
    'Where anchor is not null, fetch the transaction anchor.tx from a node that you trust, and see that it succeeded, that anchor.signer signed it, and that its memo is anchor.payload as canonical JSON.',
  ]
}

/** Of the oracle era: there is no envelope, and the root itself is signed. */
export function howToVerifyV1(domainTag: string): string[] {
  return [
    REBUILD,
    'Compare v1_signature.signed_message with commitment.merkle_root without its prefix.',
    `Verify v1_signature.manifest_signature over the 64 ASCII characters of v1_signature.signed_message, without the tag ${domainTag} that newer statements are signed under, by Ed25519 with a key that you did not get from this bundle or its gateway.`,
    'Take a signature that begins with "unsigned:" for none.',
    'Where anchor is not null, fetch the transaction anchor.tx from a node that you trust, and see that it succeeded and wrote to anchor.account.',
  ]
}
