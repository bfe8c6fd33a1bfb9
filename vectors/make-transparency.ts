// `node vectors/make-transparency.ts` writes the vectors of transparency logs, vectors/transparency/, except
// published.json, which contains vectors of other projects. The result is always the same.

import { writeFileSync } from 'node:fs'
import { cosignedBy, headOf, type NoteKey, noteKey, noteOf, pathOf, proofText, rootOf, signedBy } from './pack/log.ts'
import { entriesOf, hex, NO_HASH, rootAt, trees } from './pack/tree-cases.ts'

const ORIGIN = 'log.example/statements'
const TIME = 1_781_222_401
const LOG = noteKey(ORIGIN, 'log')
const IMPOSTOR = noteKey(ORIGIN, 'log', 'impostor')
const WITNESSES = ['w1', 'w2', 'w3'].map((name) => noteKey(`${name}.example`, 'cosigner'))
const [W1, W2, W3] = WITNESSES as [NoteKey, NoteKey, NoteKey]

const HEAD = headOf(ORIGIN, entriesOf(7))
const SIGNED = noteOf(HEAD, signedBy(LOG, HEAD))
const cosigned = (key: NoteKey) => cosignedBy(key, HEAD, TIME)

function notes() {
  const [name, id, ...encoded] = LOG.vkey.split('+') as [string, string, ...string[]]
  const bytes = encoded.join('+')
  const note = (what: string, text: string, signed: boolean, key = LOG) => ({ what, note: text, key: key.vkey, signed })
  return {
    keys: [
      { what: 'of a log', key: LOG.vkey, type: 'log' },
      { what: 'of a witness', key: W1.vkey, type: 'cosigner' },
      { what: 'another hash', key: `${name}+00000000+${bytes}`, type: null },
      { what: 'another name', key: `other.example+${id}+${bytes}`, type: null },
      { what: 'a name with a space', key: `log example+${id}+${bytes}`, type: null },
      { what: 'no name', key: `+${id}+${bytes}`, type: null },
      { what: 'no bytes', key: `${name}+${id}`, type: null },
      { what: 'truncated bytes', key: `${name}+${id}+${bytes.slice(0, -4)}`, type: null },
    ],
    notes: [
      note('signed', SIGNED, true),
      note('among other signatures', noteOf(HEAD, cosigned(W1), signedBy(LOG, HEAD), signedBy(IMPOSTOR, HEAD)), true),
      note('with a blank line in the text', noteOf('a\n\nb\n', signedBy(LOG, 'a\n\nb\n')), true),
      note('signed by another key of the same name', noteOf(HEAD, signedBy(IMPOSTOR, HEAD)), false),
      note('another text', SIGNED.replace('\n7\n', '\n8\n'), false),
      note('one valid signature and one invalid one', SIGNED + signedBy(LOG, 'a\n'), false),
      note('the signature of a witness, by a key that signs as a log', noteOf(HEAD, cosigned(W1)), false),
    ],
    refused: [
      { what: 'no signature', note: `${HEAD}\n` },
      { what: 'no blank line', note: HEAD + signedBy(LOG, HEAD) },
      { what: 'no newline at the end', note: SIGNED.slice(0, -1) },
      { what: 'lines that end in CR LF', note: SIGNED.replaceAll('\n', '\r\n') },
      { what: 'a hyphen for the dash', note: SIGNED.replace('—', '-') },
      { what: 'a signature that is not base64', note: SIGNED.replace(/=\n$/, '!\n') },
      { what: 'a signature shorter than the hash of its key', note: noteOf(HEAD, `— ${ORIGIN} AAAA\n`) },
      { what: 'text after the signatures', note: `${SIGNED}bye\n` },
    ],
  }
}

function checkpoints() {
  const root = rootOf(entriesOf(7)).toString('base64')
  const bad = (what: string, text: string) => ({ what, checkpoint: noteOf(text, signedBy(LOG, text)), head: null })
  const head = { origin: ORIGIN, size: 7, root: rootAt(7) }
  const extended = headOf(ORIGIN, entriesOf(7), 'one', 'two')
  return [
    { what: 'of seven entries', checkpoint: SIGNED, head },
    { what: 'with extension lines', checkpoint: noteOf(extended, signedBy(LOG, extended)), head },
    {
      what: 'of an empty log',
      checkpoint: noteOf(headOf(ORIGIN, []), signedBy(LOG, headOf(ORIGIN, []))),
      head: { origin: ORIGIN, size: 0, root: NO_HASH },
    },
    bad('no origin', `\n7\n${root}\n`),
    bad('a size with a leading zero', `${ORIGIN}\n07\n${root}\n`),
    bad('a negative size', `${ORIGIN}\n-7\n${root}\n`),
    bad('a size with a fraction', `${ORIGIN}\n7.0\n${root}\n`),
    bad('a root that is too short', `${ORIGIN}\n7\n${root.slice(4)}\n`),
    bad('a root in hex', `${ORIGIN}\n7\n${rootAt(7)}\n`),
    bad('two lines only', `${ORIGIN}\n7\n`),
    bad('an empty extension line', `${ORIGIN}\n7\n${root}\n\nmore\n`),
  ]
}

function proofs() {
  const entry = hex(Buffer.from('entry 4'))
  const hashes = pathOf(4, entriesOf(7))
  const text = proofText(4, hashes, SIGNED)
  const [first] = hashes as [Buffer]
  const refused = (what: string, proof: string) => ({ what, proof, entry, outcome: 'refused' })
  return [
    { what: 'entry 4 of 7', proof: text, entry, outcome: 'proven' },
    {
      what: 'the only entry',
      proof: proofText(0, [], noteOf(headOf(ORIGIN, [Buffer.from('entry 4')]), signedBy(LOG, 'x\n'))),
      entry,
      outcome: 'proven',
    },
    {
      what: 'data beside the proof',
      proof: text.replace('\nindex', '\nextra bm90aGluZw==\nindex'),
      entry,
      outcome: 'proven',
    },
    { what: 'another entry', proof: text, entry: hex(Buffer.from('entry 5')), outcome: 'not_proven' },
    { what: 'another index', proof: text.replace('index 4', 'index 5'), entry, outcome: 'not_proven' },
    { what: 'a hash is missing', proof: proofText(4, hashes.slice(1), SIGNED), entry, outcome: 'not_proven' },
    { what: 'another size', proof: text.replace('\n7\n', '\n9\n'), entry, outcome: 'not_proven' },
    refused('another header', text.replace('@v1', '@v2')),
    refused('no index', text.replace('index 4\n', '')),
    refused('an index with a leading zero', text.replace('index 4', 'index 04')),
    refused('a negative index', text.replace('index 4', 'index -4')),
    refused('extra after the index', text.replace('index 4', 'index 4\nextra bm90aGluZw==')),
    refused('a hash that is too short', text.replace(first.toString('base64'), first.subarray(1).toString('base64'))),
    refused('64 hashes', proofText(4, Array(64).fill(first), SIGNED)),
    refused('no checkpoint', text.slice(0, text.indexOf('\n\n') + 2)),
  ]
}

function policies() {
  const [log, ...witnesses] = [`log ${LOG.vkey}`, ...WITNESSES.map(({ vkey }, i) => `witness w${i + 1} ${vkey}`)]
  const lines = (...rest: string[]) => `${[log, ...witnesses, ...rest].join('\n')}\n`
  const twoOfThree = lines('group g 2 w1 w2 w3', 'quorum g')
  const nested = lines('group inner any w2 w3', 'group outer all w1 inner', 'quorum outer')
  const by = (...keys: NoteKey[]) => SIGNED + keys.map(cosigned).join('')
  const verdict = (
    what: string,
    policy: string,
    checkpoint: string,
    keys: NoteKey[],
    quorum: boolean,
    signer: string | null = ORIGIN,
  ) => ({
    what,
    policy,
    checkpoint,
    log: signer,
    cosigned: keys.map(({ name }) => ({ name, time: TIME })),
    quorum,
  })
  return {
    verdicts: [
      verdict('two of three', twoOfThree, by(W1, W3), [W1, W3], true),
      verdict('one of the two that are needed', twoOfThree, by(W2), [W2], false),
      verdict('one witness twice', twoOfThree, by(W2, W2), [W2], false),
      verdict('a group in a group', nested, by(W1, W2), [W1, W2], true),
      verdict('a group in a group that is not met', nested, by(W2, W3), [W2, W3], false),
      verdict('one witness alone', lines('quorum w3'), by(W3), [W3], true),
      verdict('no witness is needed', lines('quorum none'), SIGNED, [], true),
      verdict(
        'spaces, tabs and comments',
        `\t# comment\n\n${twoOfThree.replaceAll(' ', ' \t ')}`,
        by(W1, W2),
        [W1, W2],
        true,
      ),
      verdict('a log that the policy does not name', `${witnesses[0]}\nquorum w1\n`, by(W1), [W1], true, null),
      verdict('another key of the log', lines('quorum w1').replace(LOG.vkey, IMPOSTOR.vkey), by(W1), [W1], true, null),
      verdict(
        'the cosignature of another checkpoint',
        lines('quorum w1'),
        SIGNED + cosignedBy(W1, headOf(ORIGIN, []), TIME),
        [],
        false,
      ),
      verdict('a witness that signs as a log does', lines('quorum w1'), SIGNED + signedBy(W1, HEAD), [], false),
    ],
    refused: [
      { what: 'no quorum', policy: lines() },
      { what: 'two quorums', policy: lines('quorum w1', 'quorum w1') },
      { what: 'a quorum that is not defined', policy: lines('quorum w4') },
      { what: 'a quorum that is defined below', policy: `quorum w1\n${lines()}` },
      { what: 'a member that is not defined', policy: lines('group g any w4', 'quorum g') },
      { what: 'a member twice', policy: lines('group g all w1 w1', 'quorum g') },
      { what: 'a member of two groups', policy: lines('group g any w1', 'group h any w1', 'quorum g') },
      { what: 'none as a member', policy: lines('group g any none w1', 'quorum g') },
      { what: 'a group without members', policy: lines('group g any', 'quorum w1') },
      { what: 'a threshold of zero', policy: lines('group g 0 w1', 'quorum g') },
      { what: 'a threshold above the members', policy: lines('group g 2 w1', 'quorum g') },
      { what: 'a witness called none', policy: `witness none ${W1.vkey}\nquorum none\n` },
      { what: 'two witnesses of one name', policy: `witness a ${W1.vkey}\nwitness a ${W2.vkey}\nquorum a\n` },
      { what: 'two witnesses of one key', policy: `witness a ${W1.vkey}\nwitness b ${W1.vkey}\nquorum a\n` },
      { what: 'a log twice', policy: `${log}\n${lines('quorum none')}` },
      { what: 'the key of a log for a witness', policy: `witness a ${LOG.vkey}\nquorum a\n` },
      { what: 'the key of a witness for a log', policy: `log ${W1.vkey}\nquorum none\n` },
      { what: 'a comment after a line', policy: `${witnesses[0]} https://w1.example/ # comment\nquorum w1\n` },
      { what: 'an unknown keyword', policy: 'trust everybody\nquorum none\n' },
      { what: 'lines that end in CR LF', policy: 'quorum none\r\n' },
    ],
  }
}

/** Every file by its name. */
export function makeVectors(): Map<string, string> {
  const files = { trees: trees(), notes: notes(), checkpoints: checkpoints(), proofs: proofs(), policies: policies() }
  return new Map(Object.entries(files).map(([name, value]) => [`${name}.json`, `${JSON.stringify(value, null, 1)}\n`]))
}

if (import.meta.main) {
  for (const [name, text] of makeVectors()) writeFileSync(new URL(`transparency/${name}`, import.meta.url), text)
}
