import { NETWORKS } from '@svc/api/networks'
import type { Change } from '../../pages/verify/pictures/differences.ts'
import type { PathProblem } from '../../pages/verify/pictures/merkle-path.ts'
import { common } from './common.ts'

const files = (number: number) => common.counted(number, 'file')

const problems: Record<PathProblem, string> = {
  no_such_leaf: 'A tree of this many files has no such leaf.',
  wrong_length: 'The path has the wrong length for a tree of this many files.',
  wrong_side: 'A hash is on the wrong side for this leaf.',
  not_repeated: 'The last node of an odd level is paired with a node other than itself.',
  repeated: 'A node is paired with itself, but it is not the last one of an odd level.',
  malformed: 'One of the hashes is not SHA-256.',
}

const changes: Record<Change, string> = {
  added: 'Added',
  changed: 'Changed',
  removed: 'Removed',
  renamed: 'Renamed',
  unchanged: 'Unchanged',
}

export const texts = {
  files,
  invisible: 'Invisible characters are written as \\u{…} here. Copying keeps them as they are.',

  tree: {
    title: 'How this file is part of the statement',
    label: 'Merkle tree, from the root at the top to the leaf of the file at the bottom. Arrow keys move in it.',
    leads: 'Leads to the root of the statement',
    leadsElsewhere: 'Leads to a different root than the one in the statement',
    noStatement: 'No statement to compare the root with',
    wrongPath: 'Not a path of this tree',
    problems,
    place: (index: number, of: number) => `File ${common.number(index + 1)} of ${common.number(of)}, by name.`,
    withoutName: (index: number) => `Leaf ${common.number(index + 1)}`,
    levels: (depth: number) =>
      depth === 0
        ? 'It is the only file: its leaf is the root.'
        : `${depth === 1 ? 'One hash' : `${depth} hashes`} beside the path ${depth === 1 ? 'represents' : 'represent'} all the other files.`,
    showAll: (depth: number) => `Show all ${depth} levels`,
    showFewer: 'Show fewer levels',
    between: (levels: number) => common.counted(levels, 'more level'),
    statement: 'Root in the statement',
    unknown: 'not known',
    root: 'Root, computed here',
    leaf: 'Leaf of the file',
    level: (height: number) => `Level ${height}`,
    repeated: 'repeated',
    node: {
      root: (hash: string) => `Root, computed here: ${hash}`,
      statement: (hash: string | null) =>
        hash ? `Root in the statement: ${hash}` : 'Root in the statement: not known',
      leaf: (name: string, hash: string) => `Leaf of ${name}: ${hash}`,
      path: (height: number, hash: string) => `Level ${height}, on the path: ${hash}`,
      sibling: (height: number, side: string, behind: string, hash: string) =>
        `Level ${height}, ${side} of the path, ${behind}: ${hash}`,
    },
    sides: { left: 'left', right: 'right' },
    range: (first: number, last: number) =>
      first === last
        ? `file ${common.number(first + 1)}`
        : `files ${common.number(first + 1)} to ${common.number(last + 1)}`,
    hash: 'hash',
    text: 'hashed text',
    how: 'How it is computed',
    ofLeaf: 'SHA-256 of the name, the size and the hash of the content, with colons between them:',
    ofLeafUnnamed: 'The bundle shows this leaf without the name of its file, so it cannot be computed here.',
    ofParent: 'SHA-256 of the two hashes below it, left then right, as 128 characters of text:',
    ofRepeated: 'This level has an odd number of nodes. The last one is paired with itself.',
    ofSiblingComputed: (behind: string) => `Computed here from ${behind}, in the same way.`,
    ofSiblingGiven: (behind: string) => `Given by the bundle; represents ${behind}, which are not needed here.`,
    ofStatement: 'The root in the signed statement. The facts show whose signature it has.',
    ofStatementNone: 'There is no statement to compare with.',
    leftHalf: 'left',
    rightHalf: 'right',
    steps: 'The same in steps',
    step: {
      leaf: 'Hash the name, size and content hash of the file. The result is its leaf:',
      leafUnnamed: 'Take the leaf as the bundle shows it:',
      left: (height: number, behind: string) => `Level ${height}: put the hash of ${behind} before it, and hash both:`,
      right: (height: number, behind: string) => `Level ${height}: put the hash of ${behind} after it, and hash both:`,
      repeated: (height: number) => `Level ${height}: it is the last of an odd number; repeat it, and hash both:`,
      same: 'This is the root that the statement names.',
      other: 'This is not the root that the statement names, which is:',
      none: 'There is no statement to compare this root with.',
    },
  },

  history: {
    title: 'All statements about this locker',
    lead: 'Each statement names the digest of the previous one. A statement that is changed or left out afterwards shows here.',
    loading: 'Reading the statements…',
    failed: 'The statements did not load',
    none: 'No statement yet',
    noneText: 'The owner makes the first one by attesting.',
    checkedAll: (statements: number) =>
      statements === 1
        ? 'The statement was recomputed here, and its signature checked.'
        : `${common.number(statements)} statements were recomputed here: each signature and each link is valid.`,
    checkedSome: (broken: number) =>
      broken === 1 ? 'One statement or link is invalid.' : `${common.number(broken)} statements or links are invalid.`,
    uncheckedSome: 'Some of it could not be checked here.',
    notPinned: 'It is unknown whose key signed: pin a key that you trust.',
    earlier: 'Show earlier statements',
    earlierOf: (left: number) => `${common.number(left)} earlier`,
    statement: (sequence: number) => `Statement ${common.number(sequence)}`,
    here: 'this bundle',
    otherHere: 'The bundle on this page has another statement with this number.',
    foreign: 'It is about another locker than the bundle on this page.',
    digest: 'digest of the statement',
    root: 'Merkle root',
    size: (number: number, bytes: string) => `${files(number)}, ${bytes}`,
    states: {
      pinned: 'Signed, key pinned',
      signed: 'Signed',
      failed: 'Invalid',
      listed: 'Not checked',
    },
    listedOnly: 'The gateway sent no signed statement: this is only its own report.',
    malformed: 'This is not a statement.',
    mislabelled: 'The gateway lists it with values that differ from the statement.',
    links: {
      first: 'The first statement',
      linked: 'Names the digest of the previous statement',
      linkedUnpinned: 'Names the previous statement, but another key signed, and not both are pinned',
      broken: 'Does not follow the previous statement',
      gap: (missing: number) =>
        missing === 1 ? 'One statement is missing here' : `${common.number(missing)} statements are missing here`,
      listed: 'As the gateway lists it; not checked',
      earlier: 'The previous statement is not loaded yet',
    },
    anchor: {
      title: 'Published',
      by: (network: string) => `Published on ${network}`,
      slot: (slot: number) => `slot ${common.number(slot)}`,
      explorer: 'See the transaction',
      transaction: 'transaction',
      unchecked: 'Only the gateway reports where they were published: ask a node to check the one on this page.',
      other: 'Names another statement',
      networks: {
        ...Object.fromEntries(NETWORKS.map(({ caip2, title }) => [caip2, title])),
        'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'Solana devnet',
      } as Readonly<Record<string, string>>,
      none: 'Not published',
      absence: {
        limit_reached: 'Not published: the locker has used up its publications.',
        daily_budget_used: 'Not published yet: the daily budget is used up.',
        superseded: 'Not published: a newer statement was published instead.',
      },
    },
    time: (iso: string) => {
      const date = new Date(iso)
      return Number.isNaN(date.getTime())
        ? iso
        : new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' }).format(date)
    },
    utc: 'UTC',
    later: (milliseconds: number) => {
      const seconds = Math.round(milliseconds / 1000)
      if (seconds < 0) return 'dated earlier'
      const units = [
        [31_536_000, 'year'],
        [86_400, 'day'],
        [3_600, 'hour'],
        [60, 'minute'],
        [1, 'second'],
      ] as const
      const [size, unit] = units.find(([length]) => seconds >= length) ?? ([1, 'second'] as const)
      const number = Math.floor(seconds / size)
      return `${common.counted(number, unit)} later`
    },
  },

  differences: {
    title: 'What changed between two statements',
    lead: 'Compares the file lists of two bundles in your browser.',
    before: 'Before',
    after: 'After',
    thisBundle: 'The bundle on this page',
    bySequence: 'Another statement of this locker',
    byFile: 'A bundle from this device',
    number: 'Number of the statement',
    file: 'Choose a bundle…',
    fileOf: (side: string) => `${side}: choose a bundle`,
    compare: 'Compare',
    reading: (side: string | null, read: string | null) =>
      `${side === null ? 'Checking and comparing' : `Fetching: ${side}`}${read === null ? '…' : `, ${read}`}`,
    cancel: 'Cancel',
    nobody: 'There is no gateway to ask. Choose a bundle from this device.',
    failed: 'The bundles cannot be compared',
    refused: (side: string, why: string) => `${side}: ${why}`,
    noAnswer: (side: string, why: string) => `${side}: the gateway did not send it. ${why}`,
    redacted: 'a redacted bundle does not show all files, so the others cannot be compared',
    wrongSequence: (sequence: number) => `the gateway sent statement ${common.number(sequence)} instead`,
    same: 'Both lists have the same files.',
    otherProof: 'These statements are about two different lockers. Neither is a later version of the other.',
    noProof: 'At least one of them has no signed statement, so nothing shows that they are about the same locker.',
    reversed: 'The second statement is older than the first.',
    unfit: (side: string, why: string) => `${side}: do not rely on its list: ${why}.`,
    statement: (sequence: number, issued: string) => `Statement ${common.number(sequence)}, ${issued}`,
    record: 'A record without a signed statement',
    changes,
    show: 'Show',
    search: 'Part of a name',
    caption: 'Files that differ',
    head: ['Change', 'File', 'Size', 'Content hash'],
    from: (name: string) => `was ${name}`,
    noRows: 'No file matches.',
    more: 'Show more',
    shown: (shown: number, of: number) => `${common.number(shown)} of ${common.number(of)}`,
  },
}
