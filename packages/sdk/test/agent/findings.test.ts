import type { Delegation, Finding } from '@svc/api/agent/delegations'
import { writable } from '@svc/devnet/writable'
import { toHex } from '@svc/protocol/bytes'
import { type SignedFinding, signFinding } from '@svc/protocol/finding'
import { type Ed25519Signer, ed25519Signer } from '@svc/protocol/keys'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Journal, memoryJournal } from '../../src/journal.ts'
import type { Signer } from '../../src/signers.ts'
import { useAgentMarket } from '../agents.ts'

const FILES = 5
/** More findings than fit on one page. */
const MORE = 600
const DAY = 86_400

const market = useAgentMarket()
let signer: Signer
let id: string
let log: Finding[]
beforeAll(async () => {
  const buyer = market.solana()
  signer = buyer.signer
  const { locker, delegationId } = await market.subscriber(buyer)
  await market.work()
  await market.work(60)
  const files = Array.from({ length: FILES }, (_, i) => ({ filename: `${i}.txt`, bytes: Buffer.from(`${i}`) }))
  await market.client({ signer }).putMany(locker, files)
  await market.work(DAY)
  id = delegationId
  await lengthenLog((await client().delegation(id)).log as SignedFinding[])
  log = (await client().delegation(id)).log
})

/** Appends findings like further runs of the agent. */
async function lengthenLog(before: SignedFinding[]): Promise<void> {
  const { database, signer: agentSigner } = market.agent.context
  const added: SignedFinding[] = []
  for (let i = 0; i < MORE; i++) {
    const last = (added.at(-1) ?? before.at(-1)) as SignedFinding
    const next = { ...last, kind: 'file_gone', sequence: last.sequence + 1, previous_digest: last.digest }
    added.push(signFinding(next, agentSigner))
  }
  const rows = added.map((finding) => {
    const { delegation_id, sequence, severity } = finding
    return { delegation_id, sequence, severity, finding: JSON.stringify(finding) }
  })
  await writable(database.db).insertInto('findings').values(rows).execute()
  const end = { finding_count: before.length + MORE, last_digest: added.at(-1)!.digest }
  await writable(database.db).updateTable('delegations').set(end).where('delegation_id', '=', id).execute()
}

const client = (journal: Journal = memoryJournal(), pinnedKeys = [market.agentKey]) =>
  market.agentClient({ signer, journal, pinnedKeys }, { now: market.now })

const UNTRUE = { name: 'UntrueAnswer' }
const forger = ed25519Signer(new Uint8Array(32).fill(9))

/** A valid log of these findings, numbered, chained and signed again. */
function rewritten(findings: readonly Finding[], by: Ed25519Signer): Finding[] {
  let previous_digest: string | null = null
  return (findings as SignedFinding[]).map((finding, i) => {
    const signed = signFinding({ ...finding, sequence: i + 1, previous_digest }, by)
    previous_digest = signed.digest
    return signed as Finding // its kind is unchanged
  })
}

/** Replaces the log in the answers of the service, on one page. */
function showInstead(findings: readonly Finding[]): void {
  market.agentProxy.always(/v1\/delegations\/dlg/, {
    lie: ({ next_after: _, ...delegation }: Delegation) => ({
      ...delegation,
      findings: findings.length,
      log: findings,
    }),
  })
}

describe('the log of a delegation', () => {
  it('AGENT-04 is read from all its pages and verified', { tags: ['nightly'] }, async () => {
    const kinds = ['baseline', ...Array(FILES).fill('file_new'), ...Array(MORE).fill('file_gone')]
    expect(log.map(({ kind }) => kind)).toEqual(kinds)
    expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, i) => i + 1))
    await client().checkFindings(log)
    await client(memoryJournal(), []).checkFindings(log, { publicKeyHex: market.agentKey })
    await client().checkFindings([])
  })

  it('is refused if an entry was changed, omitted, moved or signed by another key', async () => {
    const [first, second, third] = log as [Finding, Finding, Finding]
    for (const [what, forged] of Object.entries({
      changed: [first, { ...second, detail: { ...second.detail, filename: 'other' } }, third],
      'without a canonical form': [{ ...first, detail: { share: 0.5 } }],
      'left out': [first, third],
      'left out at the beginning': [second, third],
      moved: [second, first],
      'of another delegation': [first, { ...second, delegation_id: `dlg_${'0'.repeat(32)}` }],
      'by another key': rewritten(log, forger),
    }))
      await expect(client().checkFindings(forged), what).rejects.toMatchObject(UNTRUE)
    const options = { publicKeyHex: toHex(forger.publicKey) }
    await expect(client().checkFindings(log, options)).rejects.toMatchObject(UNTRUE)
  })

  it('is refused if it belongs to another delegation, has the wrong length, or its pages do not advance', async () => {
    for (const lie of [
      (body: Delegation) => ({ ...body, delegation_id: `dlg_${'0'.repeat(32)}` }),
      (body: Delegation) => ({ ...body, locker_id: 'locker_000000000000' }),
      (body: Delegation) => ({ ...body, log: body.log.slice(0, 1), next_after: undefined }),
      (body: Delegation) => ({ ...body, findings: 3 }),
      (body: Delegation) => ({ ...body, next_after: 1 }),
      (body: Delegation) => ({ ...body, log: [], next_after: 5 }),
    ]) {
      market.agentProxy.always(/v1\/delegations\/dlg/, { lie })
      await expect(client().delegation(id)).rejects.toMatchObject(UNTRUE)
      market.agentProxy.behave()
    }
  })

  it('is refused if it differs from the log read before, even with valid signatures', {
    tags: ['nightly'],
  }, async () => {
    const journal = memoryJournal()
    const { signer: agentSigner } = market.agent.context
    showInstead(log.slice(0, 5))
    expect((await client(journal).delegation(id)).log).toHaveLength(5)
    for (const other of [log.slice(0, 4), [], rewritten([...log.slice(1), ...log.slice(0, 1)], agentSigner)]) {
      market.agentProxy.behave()
      showInstead(other)
      await expect(client(journal).delegation(id)).rejects.toMatchObject(UNTRUE)
    }
    market.agentProxy.behave()
    expect((await client(journal).delegation(id)).log).toEqual(log)
  })

  it('must be signed by the key that the service showed first if none is pinned', { tags: ['nightly'] }, async () => {
    const journal = memoryJournal()
    expect((await client(journal, []).delegation(id)).log).toEqual(log)
    const lie = rewritten(log, forger)
    market.agentProxy.always(/svc-agent/, {
      lie: (body) => ({ ...body, signing_key: { alg: 'ed25519', public_key_hex: toHex(forger.publicKey) } }),
    })
    showInstead(lie)
    await expect(client(journal, []).checkFindings(lie)).rejects.toMatchObject(UNTRUE)
    await client(memoryJournal(), []).checkFindings(lie)
  })
})
