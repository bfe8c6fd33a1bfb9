import { expect, it } from 'vitest'
import { cosign, readCheckpoint, signCheckpoint } from '../../src/transparency/checkpoint.ts'
import { formatKey, formatSignature } from '../../src/transparency/note.ts'
import { judge, readPolicy } from '../../src/transparency/policy.ts'
import { EMPTY_ROOT } from '../../src/transparency/tree.ts'
import { readable, testKey } from './keys.ts'

const LOG = testKey('gateway.example/log', 'log')
const names = ['X1', 'X2', 'X3', 'Y1', 'Y2']
const witnesses = new Map(names.map((name) => [name, testKey(`${name}.example`, 'cosigner')]))
const lineOf = (name: string) => `witness ${name} ${formatKey(witnesses.get(name)!.key)} https://${name}.example/\n`
const HEAD = `# trusted here\n\nlog ${formatKey(LOG.key)} https://gateway.example/log/\n`
const TWO_GROUPS = `${HEAD}${names.map(lineOf).join('')}
group X 2 X1 X2 X3
group Y any Y1 Y2
\tgroup both  all X Y
quorum both`

const policyOf = (text: string) => readable(readPolicy(text))

async function signedBy(...cosigners: string[]) {
  const text = await signCheckpoint(LOG.key, { size: 0, root: EMPTY_ROOT }, LOG.sign)
  const read = readable(readCheckpoint(text))
  const lines = cosigners.map(async (name) => {
    const { key, sign } = witnesses.get(name)!
    return formatSignature(await cosign(key, read, 1_700_000_000, sign))
  })
  return readable(readCheckpoint(text + (await Promise.all(lines)).join('')))
}

it('LOG-07 a quorum is computed from groups of witnesses', async () => {
  const policy = policyOf(TWO_GROUPS)
  const judged = async (...cosigners: string[]) => judge(policy, await signedBy(...cosigners))
  expect(await judged('X1', 'X3', 'Y2')).toMatchObject({ log: LOG.key, isQuorum: true })
  expect(await judged('X1', 'Y1', 'Y2')).toMatchObject({ isQuorum: false })
  expect(await judged('X1', 'X1', 'Y2')).toMatchObject({ isQuorum: false })
  expect(await judged('X1', 'X2', 'X3')).toMatchObject({ isQuorum: false })
  expect((await judged('X1', 'X3', 'Y2')).cosignatures).toHaveLength(3)
})

it('LOG-07 a policy can require no witness, and accepts only the logs that it names', async () => {
  const checkpoint = await signedBy()
  expect(judge(policyOf(`${HEAD}quorum none\n`), checkpoint)).toMatchObject({ log: LOG.key, isQuorum: true })
  expect(judge(policyOf('quorum none'), checkpoint)).toMatchObject({ log: null, isQuorum: true })
  expect(judge(policyOf(`${lineOf('X1')}quorum X1`), checkpoint)).toMatchObject({ log: null, isQuorum: false })
})

it('LOG-07 an invalid policy is refused with the line of its problem', () => {
  const bad: Record<string, string> = {
    'names no quorum': HEAD,
    'the name X1 is taken': `${HEAD}${lineOf('X1')}${lineOf('X2').replace('X2', 'X1')}quorum none`,
    'the log is named twice': `${HEAD}${HEAD}quorum none`,
    'the witness is named twice': `${lineOf('X1')}${lineOf('X1').replace('X1', 'X9')}quorum none`,
    'X2 is not defined above': `${lineOf('X1')}group g all X1 X2\nquorum g`,
    'X1 is already a member of a group': `${lineOf('X1')}group g all X1 X1\nquorum g`,
    'needs all, any, or 1 to 1': `${lineOf('X1')}group g 2 X1\nquorum g`,
    'must have a name, a number and members': 'group g all\nquorum g',
    'g is not defined above': 'quorum g',
    'must begin with log, witness, group or quorum': 'trust me',
    'this is the key of a witness': `log ${formatKey(witnesses.get('X1')!.key)}\nquorum none`,
    'this is not the key of a witness': `witness w ${formatKey(LOG.key)}\nquorum w`,
    'has a control character': 'quorum none\r\n',
  }
  for (const [why, text] of Object.entries(bad)) expect(readPolicy(text), text).toContain(why)
  expect(readPolicy('quorum none\nquorum none')).toBe('line 2: there must be only one quorum')
})
