export const texts = {
  tab: 'Other verifiers',
  text: 'The same statement in formats that cosign and other programs check. Neither names the receipt, so neither opens a file.',
  file: 'Only this file',
  fileHint: 'Its name in the locker. Leave empty for all files (works for up to about 700).',
  sigstore: 'Download Sigstore bundle',
  dsse: 'Download DSSE envelope',
  key: 'Download the key',
  keyHint:
    'The key that signed, as a PEM file. It is a key that you trust on this page, never one that only the gateway names.',
  noKey:
    'None of the keys that you trust signed this. Trust the key of this gateway above first; the gateway may have a newer key than the statement.',
  commands: 'To check them',
  commandsLabel: 'Commands for other verifiers',
  /** `file` is a file of the locker, on the reader's disk. */
  commandLines: (file: string) => `cosign verify-blob-attestation --key gateway.pem --insecure-ignore-tlog \\
  --type urn:svc:evidence-predicate:v1 --bundle statement.sigstore.json ${file}   # cosign 3
cosign verify-blob-attestation --key gateway.pem --insecure-ignore-tlog \\
  --type urn:svc:evidence-predicate:v1 --signature statement.dsse.json ${file}    # cosign 2
svc verify statement.sigstore.json --require dsse_signed                         # with the key pinned`,
  anyFile: 'FILE',
  limits:
    'cosign checks who signed and that your file is named. Only svc verify and this page also check that the names belong to the statement, and that the statement is on chain.',
}
