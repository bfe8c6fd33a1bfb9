import { hash } from 'node:crypto'
import {
  address,
  createSolanaRpc,
  decompileTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
} from '@solana/kit'
import type { Anchor, Attestation } from '@svc/api/attestations'
import type { Simulation } from '@svc/api/evidence'
import type { Health } from '@svc/api/info'
import { createFreshDatabase } from '@svc/devnet/databases'
import { withResult } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import type { TestGateway, TestLocker } from '@svc/devnet/services/test-gateway'
import { toBase58 } from '@svc/protocol/bytes'
import { decodeRecord, REGISTRY_PROGRAM, readRegistryAccount } from '@svc/protocol/registry'
import {
  getAttestationDecoder,
  getCredentialDecoder,
  getSchemaDecoder,
  parseCloseAttestationInstruction,
  parseCreateAttestationInstruction,
} from 'sas-lib'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { setUpRegistry } from '../../src/publication/registry/set-up.ts'
import { attest } from '../evidence/attest.ts'
import { askToPush, filledLocker, publicationsOf, useAnchorTestbed } from './anchor-testbed.ts'

const ACCOUNT_BYTES = 345
const RENT_LAMPORTS = 3_292_080

describe('the attestation registry', () => {
  const testbed = useAnchorTestbed()
  const latest = forAllTests(() => testbed.open({ ANCHORS: 'registry' }))
  /** A locker in mode latest, with its two statements. */
  let locker: TestLocker
  let first: Attestation
  let second: Attestation
  beforeAll(async () => {
    await setUp(latest)
    locker = await filledLocker(latest)
    first = (await attest(latest, locker)).attestation
    await locker.put('b', 'b')
    second = (await attest(latest, locker)).attestation
  })

  async function account(at: string): Promise<Uint8Array | null> {
    const rpc = createSolanaRpc(testbed.chainUrl)
    const { value } = await rpc.getAccountInfo(address(at), { encoding: 'base64' }).send()
    if (value) expect(value.owner).toBe(REGISTRY_PROGRAM)
    return value && Buffer.from(value.data[0], 'base64')
  }

  const setUp = ({ gateway }: TestGateway) => {
    const { config, signers } = gateway.context
    return setUpRegistry(signers.publication, config.anchors.registry.credentialName, [testbed.chainUrl])
  }

  it('SAS-01 SAS-02 nothing is sent before the registry is set up, and the setup creates credential and schema once', async () => {
    const instance = await testbed.open({ ANCHORS: 'registry,credential=another' })
    const locker = await filledLocker(instance)
    const { push_result } = await attest(instance, locker)
    expect(push_result).toMatchObject({ status: 'failed', reason: 'registry_not_set_up', error: { retryable: false } })
    expect(push_result.error?.error).toContain('svc-gateway set-up-registry')
    expect(await publicationsOf(instance, locker)).toEqual([])

    const { tx, credential, schema } = await setUp(instance)
    expect(tx).not.toBeNull()
    const { signer } = instance.gateway.context.primaryChain!
    const made = getCredentialDecoder().decode((await account(credential))!)
    expect(made).toMatchObject({ authority: signer, authorizedSigners: [signer] })
    expect(Buffer.from(made.name).toString()).toBe('another')
    expect(latest.gateway.context.config.anchors.registry.credentialName).toBe('svc-content-attestations')
    const { name, layout, version } = getSchemaDecoder().decode((await account(schema))!)
    expect([Buffer.from(name).toString(), version]).toEqual(['svc.content.v2', 1])
    expect([...layout]).toEqual([13, 13, 13, 13, 2, 2, 8, 12])
    expect(await setUp(instance)).toEqual({ ...(await setUp(instance)), tx: null, credential, schema })
  })

  it('SAS-06 SAS-10 a receipt has one account in mode latest, which each statement replaces', async () => {
    const anchors = [first.anchor, second.anchor] as [Anchor, Anchor]
    expect(anchors.map(({ type, sas }) => [type, sas?.mode, sas?.replaced_previous])).toEqual([
      ['chain_sas_v1', 'latest', false],
      ['chain_sas_v1', 'latest', true],
    ])
    const anAddress = expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
    const { mode, replaced_previous, ...addresses } = anchors[1].sas!
    const named = ['attestation', 'credential', 'nonce', 'program', 'schema'].map((name) => [name, anAddress])
    expect([anchors[1].envelope_version, addresses]).toEqual([2, Object.fromEntries(named)])
    const { attestation, nonce, credential, schema } = anchors[1].sas!
    expect(anchors[0].sas?.attestation).toBe(attestation)
    expect(nonce).toBe(toBase58(hash('sha256', `svc/sas-nonce/v1|${second.proof_id}`, 'buffer')))

    const bytes = (await account(attestation))!
    expect(bytes).toHaveLength(ACCOUNT_BYTES)
    const decoded = getAttestationDecoder().decode(bytes)
    expect(decoded).toMatchObject({ nonce, credential, schema, signer: anchors[1].signer, expiry: 0n })
    const { body, statement_digest } = second.envelope!
    const record = {
      proof_id: body.proof_id,
      snapshot_id: body.snapshot_id,
      statement_digest,
      merkle_root: body.merkle_root.slice('sha256:'.length),
      file_count: 2,
      sequence: 2,
      issued_at: body.issued_at_unix,
      issuer_key_id: body.issuer_key_id,
    }
    expect(decodeRecord(Uint8Array.from(decoded.data))).toEqual(record)
    expect(readRegistryAccount(bytes)?.record).toEqual(record)

    const rents = (await publicationsOf(latest, locker)).map(({ rent_lamports }) => rent_lamports)
    expect(rents).toEqual([RENT_LAMPORTS, 0])
  })

  it('T-34 SAS-06 a separate ceiling on rent delays only lockers that need a new account', async () => {
    const limited = await testbed.open({
      ANCHORS: 'registry',
      LOG_ANCHOR_SECONDS: '0',
      SPEND_PER_DAY: `publication=0.000025SOL,registry_rent=${(2 * RENT_LAMPORTS + 1) / 1e9}SOL`,
    })
    const [locker, other, third] = [
      await filledLocker(limited),
      await filledLocker(limited),
      await filledLocker(limited),
    ]
    const resultOf = async (of: TestLocker) => (await attest(limited, of)).push_result
    for (const of of [locker, other]) expect(await resultOf(of)).toMatchObject({ status: 'pushed' })
    expect(await resultOf(third)).toMatchObject({ status: 'deferred', reason: 'daily_budget_used' })
    await locker.put('b', 'b')
    expect(await resultOf(locker)).toMatchObject({ status: 'pushed' })
    const { db } = limited.gateway.context.database
    const days = await db.selectFrom('budget_days').select(['budget', 'amount', 'transactions']).execute()
    expect(days.toSorted((a, b) => (a.budget < b.budget ? -1 : 1))).toEqual([
      { budget: 'publication', amount: 3 * 5000, transactions: 3 },
      { budget: 'registry_rent', amount: 2 * RENT_LAMPORTS, transactions: 2 },
    ])
    const { body } = await limited.send<Health>('GET', '/health')
    expect(body.budgets).toMatchObject({ publication: 'ok', registry_rent: 'used_up' })
    expect(body.warnings).toEqual([expect.stringContaining('registry_rent')])
    testbed.clock.advance(86_400)
    await limited.gateway.context.queue.drain()
    expect((await publicationsOf(limited, third)).map(({ rent_lamports }) => rent_lamports)).toEqual([RENT_LAMPORTS])
  })

  it('SAS-05 ANCH-01 a registry transaction contains the memo, a close and a create, as the registry client reads them', async () => {
    const { anchor } = second
    const wire = Buffer.from(testbed.chain.transaction(anchor!.tx)!.wire, 'base64')
    expect(wire.length).toBeLessThan(1232)
    const { messageBytes } = getTransactionDecoder().decode(wire)
    const { instructions } = decompileTransactionMessage(getCompiledTransactionMessageDecoder().decode(messageBytes))
    expect(instructions).toHaveLength(3)
    const [memo, close, create] = instructions
    expect(JSON.parse(Buffer.from(memo!.data!).toString())).toEqual(anchor!.payload)
    // sas-lib depends on another version of @solana/kit, whose types differ.
    expect(parseCloseAttestationInstruction(close as never).accounts).toMatchObject({
      payer: { address: anchor!.signer },
      attestation: { address: anchor!.sas?.attestation },
    })
    const { data, accounts } = parseCreateAttestationInstruction(create as never)
    expect(data.nonce).toBe(anchor!.sas?.nonce)
    expect(accounts).toMatchObject({
      credential: { address: anchor!.sas?.credential },
      schema: { address: anchor!.sas?.schema },
      attestation: { address: anchor!.sas?.attestation },
    })
  })

  it('SAS-05 SAS-10 each snapshot keeps its account in mode per_snapshot, and a repeated snapshot is only a memo', async () => {
    const instance = await testbed.open({
      ANCHORS: 'registry,registry=per_snapshot,lifetime_seconds=3600',
    })
    const locker = await filledLocker(instance)
    const first = (await attest(instance, locker)).attestation
    await locker.put('b', 'b')
    const second = (await attest(instance, locker)).attestation
    const [one, two] = [first.anchor!.sas!, second.anchor!.sas!]
    expect([one.mode, one.replaced_previous, two.replaced_previous]).toEqual(['per_snapshot', false, false])
    const kept = [one, two].map(async ({ attestation }) => readRegistryAccount((await account(attestation))!))
    const [oldest, newest] = await Promise.all(kept)
    expect([oldest?.record.sequence, newest?.record.sequence]).toEqual([1, 2])
    expect(oldest?.expiry).toBe(first.envelope!.body.issued_at_unix + 3600)
    const nonceOf = ({ proof_id, snapshot_id }: typeof first) =>
      toBase58(hash('sha256', `svc/sas-nonce/v1|${proof_id}|${snapshot_id}`, 'buffer'))
    expect([one.nonce, two.nonce]).toEqual([nonceOf(first), nonceOf(second)])

    const { receiptId: receipt_id } = locker
    const simulated = async () =>
      (await instance.send<Simulation>('POST', '/v1/attest/simulate', { receipt_id })).body.would_write.type
    expect(await simulated()).toBe('chain_sas_v1')
    const again = await instance.send<{ attestation: { anchor: Anchor } }>('POST', '/v1/internal/attest', {
      receipt_id,
      force: true,
    })
    const { anchor } = again.body.attestation
    expect(anchor.type).toBe('chain_memo_v2')
    expect(anchor).not.toHaveProperty('sas')
    expect(anchor.snapshot_id).toBe(second.snapshot_id)
    expect(await simulated()).toBe('chain_memo_v2')
  })

  it('SAS-05 SAS-10 a snapshot gets a new account under another credential, in the simulation and on chain', async () => {
    const { url, drop } = await createFreshDatabase('sqlite')
    onTestFinished(drop)
    const variables = { DATABASE_URL: url, ANCHORS: 'registry,registry=per_snapshot' }
    const instance = await testbed.open(variables)
    const locker = await filledLocker(instance)
    const { receiptId: receipt_id } = locker
    await attest(instance, locker)
    await instance.send('POST', '/v1/internal/attest', { receipt_id, force: true, push: false })
    const renamed = await testbed.open({ ...variables, ANCHORS: 'registry,registry=per_snapshot,credential=renamed' })
    await setUp(renamed)
    const simulatedBy = async (of: TestGateway) =>
      (await of.send<Simulation>('POST', '/v1/attest/simulate', { receipt_id })).body.would_write.type
    expect([await simulatedBy(instance), await simulatedBy(renamed)]).toEqual(['chain_memo_v2', 'chain_sas_v1'])
    const { body } = await askToPush(renamed, locker)
    expect(body.anchor_type).toBe('chain_sas_v1')
  })

  it('SAS-07 an expired lifetime is refused before anything is paid', async () => {
    const instance = await testbed.open({ ANCHORS: 'registry,lifetime_seconds=10', PUBLISH: 'on_request' })
    const locker = await filledLocker(instance)
    await attest(instance, locker)
    testbed.clock.advance(60)
    const { status, body } = await askToPush<{ details: object }>(instance, locker)
    expect([status, body.details]).toMatchObject([502, { retryable: false, ambiguous: false, tx_signature: null }])
    expect(await publicationsOf(instance, locker)).toEqual([])
  })

  it('SAS-09 an account of another program is not touched, but an address that only holds coins is used', async () => {
    const owner = (other: string, data: string) =>
      withResult('getAccountInfo', (result: { value: object | null }) =>
        result.value ? result : { ...result, value: { ...EMPTY_ACCOUNT, owner: other, data: [data, 'base64'] } },
      )
    const instance = await testbed.open({ ANCHORS: 'registry', PUBLISH: 'on_request' })
    const locker = await filledLocker(instance)
    await attest(instance, locker)
    testbed.node.behave(owner('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', ''))
    const refused = await askToPush<{ details: object }>(instance, locker)
    expect([refused.status, refused.body.details]).toMatchObject([502, { retryable: false, tx_signature: null }])
    testbed.node.behave(owner('11111111111111111111111111111111', ''))
    const { status, body } = await askToPush(instance, locker)
    expect([status, body.anchor_type]).toEqual([200, 'chain_sas_v1'])
  })
})

const EMPTY_ACCOUNT = { executable: false, lamports: 1, rentEpoch: 0, space: 0 }
