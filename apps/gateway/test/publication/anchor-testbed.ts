// Starts gateways that publish on a local chain through a faulty node, and reads their publications.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit'
import type { Anchor, Attestation, PushAnswer } from '@svc/api/attestations'
import { testClock } from '@svc/devnet/clock'
import { type FaultyNode, honestly, startFaultyNode } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import { freePort } from '@svc/devnet/free-port'
import type { PrimaryChain } from '@svc/devnet/primary-chain/chain'
import { PUBLICATION, TREASURY } from '@svc/devnet/primary-chain/dev-accounts'
import { startPrimaryChain } from '@svc/devnet/primary-chain/start'
import { startRateServer } from '@svc/devnet/rate-server'
import {
  ed25519Identity,
  type Identity,
  openTestGateway,
  type Reply,
  type SignedCall,
  type TestGateway,
  type TestLocker,
  testGatewayOf,
} from '@svc/devnet/services/test-gateway'
import { type StartedProcess, startProcess } from '@svc/devnet/start-process'
import type { Variables } from '@svc/service/program/config'
import { afterEach, expect } from 'vitest'
import type { Overrides } from '../../src/context.ts'
import type { PublicationTable } from '../../src/db/schema.ts'
import { statementsOf, statusOf } from '../evidence/attest.ts'
import { type Hold, type HoldOptions, holdAt } from './node-faults.ts'

export interface AnchorTestbed {
  /** The clock of the chain and of all gateways. Only tests advance it. */
  clock: TestGateway['clock']
  chain: PrimaryChain
  chainUrl: string
  /** The node between the gateways and the chain. */
  node: FaultyNode
  open(variables?: Variables, overrides?: Overrides): Promise<TestGateway>
  /** A gateway in its own process, for tests that kill it. */
  openProcess(
    variables: Variables,
    ...tasks: string[]
  ): Promise<Pick<StartedProcess, 'kill'> & { instance: TestGateway }>
  /** Keeps the next call of a method waiting. */
  hold(method: string, options?: HoldOptions): Hold
  stop(): Promise<void>
}

export async function startAnchorTestbed(): Promise<AnchorTestbed> {
  const clock = testClock()
  const primary = await startPrimaryChain({ port: 0, now: clock.now })
  const node = await startFaultyNode(primary.url)
  const rates = await startRateServer({ now: clock.now })
  const folder = await mkdtemp(join(tmpdir(), 'svc-anchors-'))
  /** The settings of all gateways, which share one storage folder. */
  const variables = {
    STORAGE_DIR: join(folder, 'files'),
    PRIMARY_RPC_URLS: node.url,
    ORACLE_URL: rates.url,
    PRIMARY_TREASURY: TREASURY.address,
    // The same keys for all gateways of a test, as replicas have.
    STATEMENT_KEY: '0a'.repeat(32),
    SHORT_URL_KEY: '0d'.repeat(32),
    PUBLICATION_KEY: Buffer.from(PUBLICATION.privateKeyBytes).toString('hex'),
  }
  const instances: TestGateway[] = []
  return {
    clock,
    chain: primary.chain,
    chainUrl: primary.url,
    node,
    async open(own = {}, overrides = {}) {
      const instance = await openTestGateway({ ...variables, ...own }, { clock, ...overrides })
      instances.push(instance)
      return instance
    },
    async openProcess(given, ...tasks) {
      const PORT = String(await freePort())
      const own = { SVC_MODE: 'development', HOST: '127.0.0.1', PORT, DATA_DIR: join(folder, PORT), RUN_JOBS: 'false' }
      const { waitForLine, kill } = startProcess(new URL('./programs/gateway-at.ts', import.meta.url), {
        args: [String(clock.now()), ...tasks],
        env: { ...variables, ...given, ...own, LOCAL_PROVIDERS: 'gcs' },
      })
      const [url] = await waitForLine(/^http\S+$/)
      return { instance: testGatewayOf({ url }, clock), kill }
    },
    hold(method, options) {
      const held = holdAt(method, options)
      node.behave(held.behaviour)
      return held
    },
    async stop() {
      for (const instance of instances) await instance.close()
      await node.stop()
      await rates.stop()
      await primary.stop()
      await rm(folder, { recursive: true })
    },
  }
}

/** A locker with one confirmed file. */
export async function filledLocker(instance: TestGateway, owner: Identity = ed25519Identity()): Promise<TestLocker> {
  const locker = await instance.locker(owner)
  await locker.put('a', 'a')
  return locker
}

/** Sends a valid push by the owner, with `changes`. */
export function askToPush<Body = PushAnswer>(
  instance: TestGateway,
  { owner, receiptId }: Pick<TestLocker, 'owner' | 'receiptId'>,
  changes: Partial<SignedCall> = {},
  who: Identity = owner,
): Promise<Reply<Body>> {
  const body = { receipt_id: receiptId }
  const call = { method: 'POST', path: '/v1/attest/push', ops: ['locker:attest'], receiptId, body }
  return instance.call<Body>(who, { ...call, ...changes })
}

export async function push(instance: TestGateway, locker: TestLocker): Promise<PushAnswer> {
  const { status, body } = await askToPush(instance, locker)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

/** The publications of a receipt in the order they were sent. */
export function publicationsOf({ gateway }: TestGateway, { receiptId }: TestLocker): Promise<PublicationTable[]> {
  const { db } = gateway.context.database
  return db.selectFrom('publications').selectAll().where('receipt_id', '=', receiptId).orderBy('sent_at').execute()
}

/** Decodes a transaction of the chain. */
export function readTransaction(chain: PrimaryChain, tx: string) {
  const record = chain.transaction(tx)
  if (!record) throw new Error(`${tx} is not on the chain`)
  const { messageBytes } = getTransactionDecoder().decode(Buffer.from(record.wire, 'base64'))
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes)
  if (message.version === 1) throw new Error('unsupported transaction version')
  const { staticAccounts, header, instructions } = message
  return {
    record,
    signers: staticAccounts.slice(0, header.numSignerAccounts),
    instructions: instructions.map(({ programAddressIndex, data = new Uint8Array() }) => ({
      program: staticAccounts[programAddressIndex],
      text: Buffer.from(data).toString(),
    })),
  }
}

/** Expects that each statement has its own anchor or none, and checks the status of the newest. */
export async function expectAnchors(
  instance: TestGateway,
  chain: PrimaryChain,
  locker: TestLocker,
  published: boolean[],
): Promise<Anchor[]> {
  const statements = await statementsOf(instance, locker)
  expect(statements.map(({ anchor }) => anchor !== null)).toEqual(published)
  const anchors = statements.flatMap(({ anchor, record }) => {
    if (anchor === null) return []
    const { envelope } = JSON.parse(record) as Attestation
    const found = JSON.parse(anchor) as Anchor
    expect(found.statement_digest).toBe(envelope?.statement_digest)
    expect(JSON.parse(readTransaction(chain, found.tx).instructions.at(-1)!.text).dg).toBe(envelope?.statement_digest)
    return found
  })
  const current = await statusOf(instance, locker)
  expect(current?.status === 'complete').toBe(published.at(-1))
  if (published.at(-1)) expect(current?.anchor_error).toBeNull()
  return anchors
}

/** The number of transactions that the chain accepted during `work`. */
export async function transactionsOf(chain: PrimaryChain, work: () => Promise<unknown>): Promise<number> {
  chain.settle()
  const before = chain.transactions().length
  await work()
  chain.settle()
  return chain.transactions().length - before
}

/** A testbed for a file or suite. After each test its node is honest again and its chain has settled. */
export function useAnchorTestbed(): AnchorTestbed {
  const testbed = forAllTests(startAnchorTestbed)
  afterEach(() => {
    testbed.node.behave(honestly)
    testbed.chain.resume()
  })
  return testbed
}
