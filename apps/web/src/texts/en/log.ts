import { common } from './common.ts'

const moment = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

const entries = (count: number) => common.counted(count, 'entry', 'entries')

export const texts = {
  title: 'Public log',
  heading: 'Every statement, in public.',
  lead: 'Each statement of this gateway is an entry in a log that only grows. Your browser checks the log itself: signatures, proofs, and that nothing was removed since your last visit.',
  loading: 'Reading the log…',
  again: 'Read again',
  time: (unixSeconds: number) => `${moment.format(unixSeconds * 1000)} UTC`,

  unreadable: 'The log cannot be read right now',
  unreadableText: 'Nothing was checked. Try again in a minute.',
  notOfLog: 'The log has not signed this',
  notOfLogText: (why: string) =>
    `The gateway shows data that its own log key did not sign: ${why}. Do not rely on it, and tell the gateway’s admin.`,
  empty: 'The log is empty',
  emptyText: 'The first entry follows a few seconds after the first statement of this gateway.',

  growth: {
    first: (size: number) =>
      `This is your browser’s first visit to this log, which has ${entries(size)}. On your next visit, it checks that the log has only grown.`,
    firstEmpty: 'Your browser remembers the log from its first entry on.',
    same: (size: number, at: number) =>
      `This log is unchanged since your last visit (${entries(size)} on ${texts.time(at)}).`,
    grown: (size: number, at: number) =>
      `This log has only grown since your last visit (${entries(size)} on ${texts.time(at)}).`,
    how: (added: number) =>
      `${entries(added)} more: the tiles of the log prove that it begins with everything that you saw then.`,
    notKept: 'This browser does not let pages store data, so it cannot compare the log on your next visit.',
    unproven: 'This page could not check that the log has only grown',
    unprovenText: (size: number, at: number) =>
      `You saw it with ${entries(size)} on ${texts.time(at)}. The gateway does not show the tiles that would prove that these are still there. Try again in a minute; if nothing changes, do not rely on this log.`,
    forked: 'This log has rewritten its history',
    forkedText: (size: number, at: number) =>
      `It does not begin with the ${entries(size)} that you saw on ${texts.time(at)}. The log has signed both of the checkpoints below, and they contradict each other. An honest log never does that.`,
    shrunk: 'Entries were removed from this log',
    shrunkText: (size: number, at: number, now: number) =>
      `You saw ${entries(size)} on ${texts.time(at)}, and now the gateway shows ${entries(now)}. A gateway that was just restored may be repairing itself: read again in a minute. If nothing changes, signed entries that you saw are gone.`,
    replaced: 'This is not the log that you saw here before',
    replacedText: (origin: string, at: number) =>
      `On ${texts.time(at)} the log here was ${origin}, with another key. If the gateway’s admin has started a new log, look for their explanation somewhere other than this page. Otherwise, another server may be answering.`,
    evidence: 'Save both checkpoints before you do anything else: they are signed, and prove to anyone what happened.',
    check: 'Others can check the file with',
    save: 'Save both checkpoints',
    filename: 'log-alarm.json',
    before: 'What you saw before',
    now: 'What the gateway shows now',
    nothing: 'nothing',
    accept: 'Accept the log as it is now',
    acceptAsk: 'Forget the checkpoint that you saw before?',
    acceptText: 'From then on, your browser compares with the current checkpoint. Save both checkpoints first.',
  },

  head: {
    title: 'The newest checkpoint',
    size: (size: number) => (size === 1 ? 'entry' : 'entries'),
    root: 'Root',
    signed: 'Signed',
    signedBy: 'by the key of the log, checked here',
    name: 'Name of the log',
    key: 'Key of the log',
    keyHint: 'Save it: you can check proofs of this log with it anywhere.',
    files: 'For programs',
    checkpoint: 'Checkpoint',
    state: 'State as JSON',
  },

  vouching: {
    title: 'Who vouches for it',
    witnesses: 'Witnesses',
    none: 'This log has no witnesses. It could show something different to other people.',
    cosigned: (at: number) => `cosigned on ${texts.time(at)}`,
    notYet: 'has not cosigned this checkpoint yet',
    own: 'The gateway chose these witnesses. To use your own, give a policy on the page',
    verify: 'Verify',
    anchor: 'On chain',
    noAnchor: 'No checkpoint has been published on chain yet.',
    anchored: (size: number) =>
      size === 1 ? 'The first entry is published on chain.' : `The first ${entries(size)} are published on chain.`,
    fits: 'The published root matches these entries.',
    misfit: 'The published root does not match these entries. Do not rely on this log.',
    unknownFit: 'Whether the published root matches is unknown: the tiles could not be read.',
    transaction: 'Transaction',
    slot: (slot: number) => `slot ${common.number(slot)}`,
    notFinal: 'not final yet',
    explorer: 'Show in an explorer',
  },

  search: {
    title: 'Look up an entry',
    label: 'Entry number or statement digest',
    hint: 'For example 12, or 64 hex digits.',
    submit: 'Look up',
    bad: 'This is neither the number of an entry nor a digest of 64 hex digits.',
    noIndex: (size: number) =>
      size === 0
        ? 'The log has no entries yet.'
        : `This entry does not exist: the log has ${entries(size)}, and the last one is ${common.number(size - 1)}.`,
    notFound: 'This statement is not in the log',
    notFoundText:
      'A new statement appears in the log a few seconds after it is made. The digest may be mistyped, or belong to another gateway. Records of the oracle era are not in any log.',
    looking: 'Looking it up…',
  },

  entry: {
    title: (index: number) => `Entry ${common.number(index)}`,
    proven: 'Proven here',
    provenText: (size: number) =>
      `Your browser computed the root from this digest and the tiles of the log. It is the signed root of ${entries(size)}.`,
    unproven: 'Not in the tree',
    unprovenText: 'The tiles of the log do not have this digest at this position. Do not rely on it.',
    digest: 'Statement digest',
    proof: 'Proof id',
    sequence: 'Statement',
    sequenceText: (sequence: number) => `number ${common.number(sequence)} of this proof`,
    signed: 'Signed',
    files: 'Files',
    filesText: (files: number, bytes: number) => `${common.number(files)}, ${common.bytes(bytes)}`,
    root: 'Merkle root',
    anchor: 'Anchor',
    network: (network: string, slot: number | null) =>
      slot === null ? network : `${network}, slot ${common.number(slot)}`,
    byLog: 'with the log, see above',
    notPublished: 'not published yet',
    lost: 'The gateway no longer has this statement. Tell the gateway’s admin: the log shows that it was made.',
    other: 'The gateway shows a statement with another digest. Do not rely on it.',
    statement: 'The signed statement',
    statementLabel: 'signed statement',
    proofText: 'Proof as text',
    close: 'Close',
    closeLabel: 'Close the entry',
  },

  list: {
    title: 'Entries, newest first',
    caption: 'Entries of the log',
    columns: ['Entry', 'In the tree', 'Statement digest', 'Proof id', 'Statement', 'Signed', 'Anchor'],
    open: (index: number) => `Entry ${common.number(index)}`,
    proven: 'proven',
    unproven: 'not proven',
    lost: 'lost',
    slot: (slot: number) => `slot ${common.number(slot)}`,
    onChain: 'on chain',
    withLog: 'with the log',
    notYet: 'not yet',
    range: (first: number, last: number, size: number) =>
      `${common.number(first)} to ${common.number(last)} of ${common.number(size)}`,
    newer: 'Newer',
    older: 'Older',
    newest: 'Newest',
    pages: 'Pages of entries',
    failed: 'The entries did not load',
  },
}
