import { common } from './common.ts'

interface FactText {
  name: string
  /** What the fact means, in plain words. */
  means: string
  how: string
  /** What the fact does not prove. */
  limits: string
}

const facts: Record<string, FactText> = {
  merkle_root_matches: {
    name: 'The file list has the stated root',
    means: 'The names, sizes and hashes in this bundle give exactly the root that the bundle commits to.',
    how: 'Each file was hashed with its name and size, the hashes were combined pair by pair up to one root, and the root and the number of files were compared.',
    limits: 'It does not show who made the list, nor when. Anyone can compute a root.',
  },
  files_match: {
    name: 'Your files are the listed ones',
    means: 'Your files are, byte for byte, the ones that the bundle lists.',
    how: 'Your browser read each of your files, hashed it, and compared size and hash with the list.',
    limits: 'It shows nothing about files that you did not give, nor about what the files mean.',
  },
  statement_digest_matches: {
    name: 'The statement matches its digest',
    means: 'The signed statement was not altered: its hash is the digest that identifies it.',
    how: 'The statement was written in its canonical form, hashed, and compared with its digest.',
    limits: 'It does not show who wrote the statement.',
  },
  envelope_binds_commitment: {
    name: 'The statement is about these files',
    means: 'The statement has the root, the number of files, the bytes and the list of the files in this bundle.',
    how: 'Every field of the statement was compared with what was counted and hashed here.',
    limits: 'It does not show that the statement is signed, nor who signed it.',
  },
  inclusion_proven: {
    name: 'The shown files are part of the statement',
    means: 'Each file that this redacted bundle shows is part of the list that the statement is about.',
    how: 'The path of each file was folded up to a root, which was compared with the root of the statement.',
    limits: 'It shows nothing about the other files.',
  },
  signature_valid: {
    name: 'The signature is valid',
    means: 'The holder of the named key signed exactly this statement.',
    how: 'The Ed25519 signature was checked over the canonical statement with the domain tag.',
    limits: 'It does not show whose key that is. The next fact checks that.',
  },
  key_pinned: {
    name: 'Signed by a key that you trust',
    means: 'The key that signed is one of the keys that you gave, and it was in use at that time.',
    how: 'The signing key was compared in full with the keys that you pinned on this page, and with keys that they endorsed under their signature. If the key was revoked, the statement needs an anchor from before the revocation.',
    limits: 'It is worth as much as the source of the key. A key that came with the bundle shows nothing.',
  },
  anchor_tx_succeeded: {
    name: 'The anchor is on chain',
    means: 'The transaction that publishes the statement exists and succeeded.',
    how: 'The transaction was fetched from the node that you named; its bytes and signatures were checked here.',
    limits: 'Only that node reports that it succeeded. Ask another node for a second opinion.',
  },
  anchor_signer_matches: {
    name: 'The named key signed the anchor',
    means: 'The publication key that the bundle names has signed the transaction.',
    how: 'The signatures of the transaction were checked here, and its signers compared.',
    limits: 'It does not show whose key that is, unless you pinned the publication key as well.',
  },
  anchor_payload_matches: {
    name: 'The anchor publishes this statement',
    means: 'The transaction carries the digest of exactly this statement.',
    how: 'The memo of the transaction was compared, byte for byte, with the one that this statement must have.',
    limits: 'It shows that the statement existed then, not that anyone read it.',
  },
  anchor_slot_matches: {
    name: 'Slot, time and fee are as stated',
    means: 'The anchor has the slot, the time and the fee that the bundle states.',
    how: 'Slot, block time and fee were compared with the answer of the node.',
    limits: 'The validators of the chain set block times, which are accurate to a few seconds.',
  },
  anchor_finalized: {
    name: 'The anchor is final',
    means: 'The chain can no longer drop the transaction.',
    how: 'The node was asked whether the transaction is in a final block.',
    limits: 'Only the node that you named reports it.',
  },
  registry_matches: {
    name: 'The registry has the same record',
    means: 'The public registry on chain holds the record of this statement.',
    how: 'The address of the record was computed from the statement; the account was read and compared field by field.',
    limits: 'A newer statement replaces an older record, which is then no longer visible.',
  },
  log_included: {
    name: 'The statement is in the public log',
    means: 'The statement is an entry of a log that only grows, and the log has signed the checkpoint that shows it.',
    how: 'The proof was folded from the digest of the statement up to the root of the checkpoint, whose signature was checked with a log key that you gave.',
    limits: 'It does not show that everyone sees the same log. The next fact checks that.',
  },
  log_cosigned: {
    name: 'Witnesses vouch for the log',
    means: 'Enough of the witnesses that your policy names have seen the log grow up to this checkpoint.',
    how: 'The cosignature of each witness was checked, and the valid ones were counted by your policy.',
    limits: 'It is worth as much as the witnesses: choose some that do not depend on the gateway or on each other.',
  },
  log_anchored: {
    name: 'The log is on chain',
    means: 'A transaction has published the checkpoint, and with it every statement up to that point.',
    how: 'The memo of the transaction was compared, byte for byte, with the one that this checkpoint must have.',
    limits: 'Only the node that you named reports success, time and finality.',
  },
  receipt_signature_valid: {
    name: 'The receipt is signed',
    means: 'The holder of the key named in the receipt signed all of it.',
    how: 'The Ed25519 signature was checked over the fields of the receipt.',
    limits: 'It does not show whose key that is.',
  },
  receipt_id_matches: {
    name: 'The receipt id is correct',
    means: 'The id follows from the quote and the payment that the receipt names.',
    how: 'The id was computed from both, and compared.',
    limits: 'It does not show that the payment took place.',
  },
  receipt_key_pinned: {
    name: 'The receipt is signed by a key that you trust',
    means: 'The key that signed the receipt is one of the keys that you gave.',
    how: 'It was compared in full with the keys that you pinned on this page.',
    limits: 'It is worth as much as the source of the key.',
  },
  receipt_is_of_bundle: {
    name: 'Receipt and bundle belong together',
    means: 'The receipt and the statement name the same proof, both signed by one gateway.',
    how: 'The signed proof ids and the keys of both were compared.',
    limits: 'It does not show who paid, beyond the address that the receipt names.',
  },
}

export const texts = {
  title: 'Verify',
  heading: 'Check the evidence yourself.',
  lead: 'Everything is computed in your browser, fact by fact. This page trusts neither the bundle nor the gateway that made it.',
  facts,

  open: {
    title: 'What do you want to check?',
    drop: 'Drop an evidence bundle here',
    choose: 'Choose a bundle',
    stays: 'It is read in your browser and not sent anywhere.',
    label: 'Or a receipt id, or the address of a bundle',
    placeholder: 'rcpt_…  or  https://…',
    submit: 'Fetch it',
    invalid: 'This is neither a receipt id nor an address that begins with https://.',
    foreign: 'This bundle is on another server',
    foreignText: (host: string) =>
      `The link asks your browser to fetch it from ${host}. That server learns your IP address and that you read this bundle.`,
    agree: (host: string) => `Fetch it from ${host}`,
    another: 'Check another bundle',
    save: 'Save this bundle',
    print: 'Print',
    gone: 'The dropped file is no longer available. Drop it here again.',
  },

  activity: {
    fetching: 'Fetching the bundle',
    checking: 'Checking the bundle',
    hashing: 'Hashing your files',
    asking: 'Checking the bundle and asking the node',
    bytes: (done: number, of: number | null) =>
      of === null ? common.bytes(done) : `${common.bytes(done)} of ${common.bytes(of)}`,
    cancel: 'Cancel',
  },

  failure: {
    cancelled: 'Cancelled: an unfinished check shows no results',
    cancelledText: 'Nothing below is checked until you check again.',
    notFetched: 'The bundle could not be fetched',
    noAnswer:
      'The server gave no answer that this page may read. It may be unavailable, or may not allow other sites to read from it (CORS). Download the bundle and drop it here instead.',
    broken: 'The browser could not finish the check',
    brokenText:
      'The file may have been moved or changed, or the browser ran out of memory. The command line checks bundles of any size: svc verify',
    again: 'Check again',
  },

  verdict: {
    refused: 'This bundle cannot be checked',
    refusedText: 'Nothing in it counts as evidence. Why it was rejected:',
    failed: (count: number) =>
      count === 1
        ? 'Do not rely on this: 1 check failed'
        : `Do not rely on this: ${common.number(count)} checks failed`,
    failedText: 'Even a single failed check means that something was altered, or that parts do not belong together.',
    open: (count: number) =>
      count === 1
        ? 'Nothing failed, but 1 thing was not checked'
        : `Nothing failed, but ${common.number(count)} things were not checked`,
    openText: 'A check that was not made has not passed. How to make it:',
    passed: (count: number) => `All ${common.number(count)} checks passed`,
    passedText: 'Each was computed in your browser. The limits of each are listed below.',
    noKey: 'Without a key that you trust, anyone could have made this bundle.',
    notApplicable: 'Not counted:',
  },

  /** How to complete a check that was not made. */
  advice: {
    keys: 'Give a key that you trust',
    files: 'Give the original files',
    node: 'Name a node of the chain',
    log: 'The bundle has no log proof: ask for a bundle that was made after the statement was logged',
    anchor: 'The bundle has no anchor: ask for a bundle that was made after the statement was published',
    statement: 'This is a bundle of version 1, which signs only its root: ask for a newer statement',
    chosenFiles: 'The bundle shows only some of the files: ask for the complete bundle',
    noNames: 'The bundle shows no names: give all files, as a folder',
    wait: 'Ask the node again in a minute',
    otherNode: 'Name another node of the chain',
    nothing: 'Nothing on this page can check it',
  },

  states: { passed: 'passed', failed: 'failed', not_checked: 'not checked', unavailable: 'not answered' },
  groups: {
    bundle: 'The bundle itself',
    signer: 'Who signed',
    chain: 'On chain',
    log: 'In the public log',
    receipt: 'The receipt',
  },
  steps: {
    passed: 'done',
    failed: 'failed',
    open: 'open',
    title: (step: 'files' | 'keys' | 'node', title: string) => `${{ files: 1, keys: 2, node: 3 }[step]}. ${title}`,
  },
  fact: {
    all: 'All checks',
    count: (facts: number, state: string) => `${common.number(facts)} ${state}`,
    means: 'Meaning',
    value: 'Found',
    how: 'How it was computed',
    limits: 'What it does not prove',
    why: 'Why',
    code: 'Name',
    inLog: 'Show this statement in the public log',
    outdated: 'the input has changed and is not checked again yet',
  },

  summary: {
    title: 'This bundle',
    printed: (time: string) => `Checked in a browser and printed at ${time}Z, by the clock of that computer.`,
    from: 'From',
    ofGateway: 'this gateway, by receipt',
    receipt: 'Receipt',
    noReceipt: 'not named: the bundle is redacted',
    statement: 'Statement',
    statementText: (sequence: number, proof: string) => `${common.number(sequence)} of proof ${proof}`,
    noStatement: 'none: a bundle of version 1 signs only its Merkle root, without a time or a number',
    issued: 'Signed at',
    issuedText: (time: string) => `${time}, by the clock of the signer`,
    files: 'Files',
    filesText: (files: number, bytes: bigint | null) =>
      `${common.number(files)}${bytes === null ? '' : `, ${common.bytes(Number(bytes))}`}`,
    withoutNames: (files: number) => `${common.number(files)}, without names`,
    shownOf: (shown: number, total: number | null) =>
      `${common.number(shown)} shown of ${total === null ? 'an unknown number' : common.number(total)}`,
    root: 'Merkle root',
    digest: 'Statement digest',
    key: 'Signed by key',
    pinned: 'you pinned it',
    notPinned: 'not pinned',
    unknownKey: 'an unknown key',
    transaction: 'Anchor transaction',
    explorer: 'Show in an explorer',
    slot: 'Slot',
    signer: 'Publication key',
    chain: 'Chain',
    record: 'Registry record',
    log: 'Log',
    entry: 'Entry',
    logText: (entry: string, origin: string) => `entry ${entry} of ${origin}`,
    cosigned: 'Vouched for by',
    cosignedText: (name: string, time: string) => `${name}, ${time}`,
    entryText: (index: number, size: number) => `${index} of ${size}`,
    leftOut: 'Left out of this redacted bundle:',
    unchecked: 'Not covered by any check:',
    uncheckedText: 'The author of the bundle may have written anything in these fields.',
    none: 'none',
  },

  keys: {
    title: 'Keys you trust',
    text: 'A signature counts when its key comes from a source other than this bundle and this gateway: from the gateway’s admin, a contract, an earlier visit.',
    none: 'No key is pinned.',
    key: 'Public keys',
    keyHint: '64 hex digits each, or the text of a key list (svc-signing-keys.json). Never a secret key.',
    file: 'Open a key file',
    label: 'Label',
    labelHint: 'Where you got it from.',
    remember: 'Remember in this browser',
    add: 'Trust these keys',
    remove: (label: string) => `Remove ${label}`,
    removeShort: 'Remove',
    unnamed: 'without label',
    isRemembered: 'remembered',
    notKept: 'The browser does not let pages store data: the key is trusted until you leave.',
    tooLarge: 'The file is too large to be a list of keys.',
    more: 'Publication keys, domain tag and logs',
    signers: 'Publication keys',
    signersHint: 'Base58, one per line: keys that must have signed the anchor on chain.',
    tag: 'Domain tag',
    tagHint: '25 characters. Needed only when the gateway does not use the default.',
    logKeys: 'Log keys',
    logKeysHint: 'As name+hash+base64, one per line. The log page of a gateway shows its key.',
    policy: 'Logs and witnesses',
    policyHint: 'A policy as in C2SP tlog-policy: lines that begin with log, witness, group and quorum.',
    apply: 'Use these',
    badSigner: (text: string) => `${text} is not a public key in base58.`,
    badTag: 'A domain tag has 25 printable ASCII characters.',
  },

  node: {
    title: 'Ask the chain',
    text: 'Only a node of the chain can tell whether the statement is on chain. Name one that you trust.',
    private:
      'Nothing is sent before you press the button. The node then learns your IP address and which transaction you ask about.',
    label: 'Address of a Solana node',
    placeholder: 'https://…',
    ask: 'Ask this node',
    invalid: 'An address begins with https://, or with http://localhost.',
    asked: (host: string) => `Asked: ${host}`,
    noAnchor: 'This bundle has no anchor, so there is nothing to ask.',
  },

  receipt: {
    title: 'Receipt',
    text: 'A receipt shows that a payment was accepted. Give one to check whether it belongs to this bundle.',
    choose: 'Open a receipt file',
    bad: (name: string) => `${name} is not a receipt. The command svc receipt --json prints one.`,
    given: (id: string) => `Checked with the receipt ${id}.`,
  },

  files: {
    title: 'Your files',
    text: 'Drop the original files or their folder. They are hashed in your browser and not sent anywhere.',
    drop: 'Drop files or a folder here',
    chooseFiles: 'Choose files',
    chooseFolder: 'Choose a folder',
    whole: 'These are all the files: report any that are missing',
    clear: 'Remove them',
    none: 'The dropped items cannot be read. Drop files or a folder.',
    encrypted:
      'Files that were encrypted before they were stored are compared in their encrypted form. The command line compares the originals: svc verify --decrypt',
    caption: 'Your files, compared',
    file: 'File',
    state: 'Result',
    states: {
      unchanged: 'unchanged',
      renamed: 'unchanged, other name',
      changed: 'changed',
      unreadable: 'not readable',
      unlisted: 'not in the bundle',
      not_shown: 'not shown by this bundle',
      missing: 'missing',
    },
    counts: (state: string, count: number) => `${common.number(count)} ${state}`,
    listedAs: 'in the bundle as',
    more: (count: number) => `and ${common.number(count)} more`,
  },

  listing: {
    title: 'Files in the bundle',
    search: 'Find by name',
    caption: 'Files in the bundle',
    name: 'Name',
    size: 'Size',
    hash: 'SHA-256',
    leaf: 'Leaf',
    path: 'Path',
    showPath: 'Show path',
    /** Read by screen readers: names the file that the button belongs to. */
    ofFile: 'of',
    range: (from: number, to: number, total: number) =>
      total === 0 ? 'No file' : `${common.number(from)} to ${common.number(to)} of ${common.number(total)}`,
    back: 'Previous',
    next: 'Next',
    noPath: 'The path of this file cannot be drawn from this bundle.',
    tree: 'From one file to the root',
    choose: 'Choose a file in the list to see how its hash leads to the signed root.',
  },

  tabs: { label: 'More about this bundle', files: 'Files and tree', history: 'History', differences: 'Differences' },

  saved: {
    title: 'Check without us',
    text: 'This page also exists as a single file. Save it, disconnect, and open it from your disk: it checks the same facts without this gateway or a network.',
    download: 'Download verify.html',
    hash: 'SHA-256 of verify.html',
    hashText:
      'Every gateway of the same release has the same file. Compare its hash with one from another source: a gateway that serves a false page would also show a false hash.',
    unknown: 'The gateway does not report its hash.',
    heading: 'Saved copy',
    offline: 'You are looking at a saved copy. It loads nothing; a node is asked only when you name one.',
  },
}
