import type { VerifyAnswer } from '@svc/api/evidence'
import { statementSigner } from '@svc/devnet/services/statement-signer'
import { writable } from '@svc/devnet/writable'
import { type SignedReceipt, signReceipt } from '@svc/protocol/receipt'
import { beforeAll, describe, expect, it } from 'vitest'
import { type TestDelegation, useWorkStack } from '../work-stack.ts'

const stack = useWorkStack()
/** The gateway signs whatever its database contains. */
beforeAll(() => {
  const unscrupulous = { async requireCurrent() {}, assertCurrent() {}, assertFollows() {} }
  Object.assign(stack.gateway.context.continuity, unscrupulous)
})

const NO_BYTES = { watch: { every_hours: 24, read_bytes: false } }
const VERIFY = /\/v1\/storage\/verify/

/** Attests the locker after changing its only file; returns the digest. */
async function attest({ client, locker, put }: TestDelegation): Promise<string> {
  await put('file', `${Math.random()}`)
  const { attestation } = await client.attest(locker)
  return attestation.envelope!.statement_digest
}

/** A delegation that was watched when it had this many statements, and their digests. */
async function delegateAttested(count: number): Promise<{ delegation: TestDelegation; digests: string[] }> {
  const delegation = await stack.addDelegation(NO_BYTES)
  const digests: string[] = []
  for (let i = 0; i < count; i++) digests.push(await attest(delegation))
  await stack.nextMinute()
  expect(await delegation.newKinds()).toEqual(['baseline'])
  return { delegation, digests }
}

/** The findings about statements since the last call. */
async function statementNews(delegation: TestDelegation) {
  return (await delegation.newFindings()).filter(([kind]) => kind.startsWith('statement'))
}

/** Deletes statements from the gateway, as a gateway with something to hide would. */
async function forgetStatements({ locker: { receipt_id } }: TestDelegation, ...sequences: number[]): Promise<void> {
  const { db } = stack.gateway.context.database
  await writable(db)
    .deleteFrom('statements')
    .where('receipt_id', '=', receipt_id)
    .where('sequence', 'in', sequences)
    .execute()
}

/** Makes this the newest statement, with a new status, so that no response is reused from a cache. */
async function setNewest({ locker: { receipt_id } }: TestDelegation, sequence: number): Promise<void> {
  const { db } = stack.gateway.context.database
  const newest = writable(db).updateTable('attestations').set({ sequence, status: 'complete' })
  await newest.where('receipt_id', '=', receipt_id).execute()
}

async function forgetAllStatements(delegation: TestDelegation): Promise<void> {
  const { db } = stack.gateway.context.database
  await writable(db).deleteFrom('statements').where('receipt_id', '=', delegation.locker.receipt_id).execute()
  await writable(db).deleteFrom('attestations').where('receipt_id', '=', delegation.locker.receipt_id).execute()
}

describe('the watch of the statements of a locker', () => {
  it('AGENT-04 includes existing statements in the baseline and reports later ones as new', async () => {
    const delegation = await stack.addDelegation(NO_BYTES)
    await attest(delegation)
    await attest(delegation)
    await stack.nextMinute()
    expect(await delegation.newFindings()).toEqual([['baseline', expect.objectContaining({ statement: 2 })]])
    const third = await attest(delegation)
    await stack.nextDay()
    expect(await statementNews(delegation)).toEqual([['statement_new', { sequence: 3, digest: third }]])
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([])
  })

  it('AGENT-04 reports every new statement in order, including the first', async () => {
    const { delegation } = await delegateAttested(0)
    const digests = [await attest(delegation), await attest(delegation), await attest(delegation)]
    await stack.nextDay()
    expect(await statementNews(delegation)).toEqual(
      digests.map((digest, i) => ['statement_new', { sequence: i + 1, digest }]),
    )
  })

  it('AGENT-04 reports a lost statement once when the gateway shows an older one or none', async () => {
    const { delegation } = await delegateAttested(2)
    await forgetStatements(delegation, 2)
    await setNewest(delegation, 1)
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([['statement_lost', { last_seen: 2, newest: 1 }]])
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([])
    await forgetAllStatements(delegation)
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([['statement_lost', { last_seen: 2, newest: null }]])
  })

  it('AGENT-04 reports a statement in between that cannot be read, and continues with the others', async () => {
    const { delegation } = await delegateAttested(1)
    await attest(delegation)
    await attest(delegation)
    await attest(delegation)
    await forgetStatements(delegation, 2)
    await stack.nextDay()
    expect((await statementNews(delegation)).map(([kind, detail]) => `${kind} ${detail.sequence}`)).toEqual([
      'statement_lost 2',
      'statement_new 3',
      'statement_new 4',
    ])
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([])
  })

  it('AGENT-04 reports a rewritten statement when its digest has changed', async () => {
    const { delegation, digests } = await delegateAttested(1)
    await forgetAllStatements(delegation)
    const other = await attest(delegation)
    await setNewest(delegation, 1)
    await stack.nextDay()
    const rewritten = ['statement_rewritten', { sequence: 1, before: digests[0], after: other }]
    expect(await statementNews(delegation)).toEqual([rewritten])
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([])
  })

  it('AGENT-04 reports a rewritten statement when the next one names another digest', async () => {
    const { delegation, digests } = await delegateAttested(2)
    await forgetAllStatements(delegation)
    const others = [await attest(delegation), await attest(delegation), await attest(delegation)]
    await stack.nextDay()
    expect(await statementNews(delegation)).toEqual([
      ['statement_rewritten', { sequence: 2, before: digests[1], after: others[1] }],
    ])
    await attest(delegation)
    await stack.nextDay()
    expect((await statementNews(delegation)).map(([kind]) => kind)).toEqual(['statement_new'])
  })

  it.each<[string, (answer: VerifyAnswer) => VerifyAnswer]>([
    ['is not about its files', (answer) => changed(answer, { files: filesOf(answer, { size_bytes: 7 }) })],
    ['lists no files', (answer) => changed(answer, { files: null as never })],
    ['differs from the signed statement', (answer) => changed(answer, { envelope: forged(answer, { sequence: 9 }) })],
    ['belongs to another receipt', (answer) => changed(answer, { receipt_id: 'rcpt_other' })],
    ['contains a changed receipt', (answer) => ({ ...answer, receipt: { ...answer.receipt, units: 99 } })],
    ['contains a receipt of another proof', (answer) => ({ ...answer, receipt: ofOtherProof(answer) })],
  ])('AGENT-04 T-38 reports an untrue statement when the answer %s', async (_, lie) => {
    const { delegation } = await delegateAttested(1)
    stack.proxy.always(VERIFY, { lie })
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([['statement_untrue', { reason: expect.any(String) }]])
  })

  it('AGENT-04 reports a lasting untrue statement once, and again after a correct one', async () => {
    const { delegation } = await delegateAttested(1)
    for (let time = 0; time < 2; time++) {
      stack.proxy.always(VERIFY, { lie: (answer: VerifyAnswer) => changed(answer, { file_count: 99 }) })
      await stack.nextDay()
      expect(await delegation.newKinds()).toEqual(['statement_untrue'])
      await stack.nextDay()
      expect(await delegation.newFindings()).toEqual([])
      stack.proxy.behave()
      await stack.nextDay()
      expect(await delegation.newFindings()).toEqual([])
    }
  })

  it('AGENT-04 reports an untrue statement when the gateway returns a different one than requested', async () => {
    const { delegation } = await delegateAttested(1)
    await attest(delegation)
    await attest(delegation)
    const first = await delegation.client.verify(delegation.locker.receipt_id, { sequence: 1 })
    stack.proxy.always(/sequence=2/, { lie: () => first })
    await stack.nextDay()
    expect((await statementNews(delegation)).map(([kind, detail]) => `${kind} ${detail.sequence}`)).toEqual([
      'statement_untrue 2',
      'statement_new 3',
    ])
  })
})

type Attestation = NonNullable<VerifyAnswer['attestation']>

/** Still signed by the gateway. */
function ofOtherProof({ receipt }: VerifyAnswer): SignedReceipt {
  return signReceipt({ ...receipt, proof_id: '0f'.repeat(16) }, statementSigner(stack.gateway.context))
}

function changed(answer: VerifyAnswer, changes: Partial<Attestation>): VerifyAnswer {
  return { ...answer, attestation: { ...answer.attestation!, ...changes } }
}

function filesOf({ attestation }: VerifyAnswer, changes: { size_bytes: number }): Attestation['files'] {
  return attestation!.files.map((file) => ({ ...file, ...changes }))
}

function forged({ attestation }: VerifyAnswer, changes: { sequence: number }): NonNullable<Attestation['envelope']> {
  const { envelope } = attestation!
  return { ...envelope!, body: { ...envelope!.body, ...changes } }
}
