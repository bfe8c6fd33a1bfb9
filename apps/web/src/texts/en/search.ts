export const texts = {
  title: 'Look something up',
  label: 'Receipt, locker, transaction, digest or hash',
  placeholder: 'rcpt_…  locker_…  transaction  digest',
  submit: 'Find',
  hint: 'Or drop an evidence bundle anywhere on this page. It stays in your browser.',
  choose: 'Choose a bundle',
  drop: 'Drop the bundle here',
  recognized: (what: string) => `This is ${what}`,
  nothing: 'Not recognized',
  secret: 'This is a secret key',
  secretText:
    'It was not sent anywhere. Never paste a key into a search box. The API page has a field for keys; a key entered there stays in your browser.',
  nothingText:
    'Receipt ids begin with rcpt_, locker ids with locker_. Transactions are base58, or 0x and 64 hex digits. Digests and hashes are 64 hex digits.',
  kinds: {
    receipt: 'a receipt id',
    locker: 'a locker id',
    payment: 'a quote id',
    evmTransaction: 'a transaction of the EVM chain',
    transaction: 'a transaction of the primary chain',
    digest: 'a statement digest or the hash of a file',
  },
  receipt: {
    text: 'Anyone with this id can open every file while the public link uses it and is open. They can also read the names, sizes and hashes of all attested files. What is proven:',
    facts: 'Check it, fact by fact',
    receipt: 'The signed receipt',
    bundle: 'Evidence bundle',
  },
  locker: {
    text: 'Only its owner and its operators can see the content, with their wallet or key.',
    open: 'Open the locker',
  },
  payment: {
    text: 'Keep it to yourself: anyone who also has the transaction that paid gets the receipt.',
    confirm: 'Confirm the payment on the API page',
  },
  evmTransaction: {
    text: 'If it paid for a locker, the receipt is found with the quote id, never by the transaction alone: a receipt opens files, and transactions are public.',
    confirm: 'Confirm the payment on the API page',
  },
  anchor: {
    found: 'This gateway published a statement with this transaction.',
    none: 'This gateway published no statement with it.',
    noneTransaction:
      'If it paid for a locker, the receipt is found with the quote id, never by the transaction alone: a receipt opens files, and transactions are public.',
    noneDigest:
      'If it is the hash of a file: the gateway does not reveal who stores a file. To prove it to you, the owner gives you a bundle. A private key has 64 hex digits, too: if this was one, the gateway has seen it, so move its funds to a new key.',
    network: 'Network',
    transaction: 'Transaction',
    slot: 'Slot',
    time: 'Time',
    digest: 'Statement digest',
    sequence: 'Statement number',
    root: 'Merkle root',
    files: 'Files',
    final: 'Final',
    isFinal: 'yes',
    notFinal: 'not yet',
    caption: 'What the anchor shows publicly',
    inLog: 'Show it in the public log',
    lookInLog: 'Look for it in the public log',
  },
  bundle: {
    notHandedOver: 'This browser does not let pages store data. Open the Verify page and drop the bundle there.',
    notJson: (name: string) => `${name} is not an evidence bundle: it is not JSON.`,
  },
}
