// The form for a private key.

export const texts = {
  promise: 'The key stays in the memory of this page. It is never sent, never stored, and gone when you leave.',
  paste: 'Paste a key',
  pasteHint: 'Base58 or the numbers of a Solana keypair file; hex for an EVM key.',
  use: 'Use this key',
  file: 'Open a key file',
  wrong:
    'This page cannot read this key. Use a Solana keypair (numbers or base58), or the 64 hex digits of an EVM key.',
  encrypted: 'This keystore is encrypted. Import it with the command line: svc wallet import',
}
