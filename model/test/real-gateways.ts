// Two gateways on one SQLite database and one journal, and a chain that lands, drops and forks when the test decides.
// They perform the actions of a trace; `observe` reads what the model predicts.

import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { poll } from '@svc/concurrency/retry'
import { readJournal } from '@svc/database/journal/journal'
import { testClock } from '@svc/devnet/clock'
import { startFaultyNode } from '@svc/devnet/faulty-node'
import { payLeg } from '@svc/devnet/pay-leg'
import { PUBLICATION, TREASURY } from '@svc/devnet/primary-chain/dev-accounts'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { startPrimaryChain } from '@svc/devnet/primary-chain/start'
import { startRateServer } from '@svc/devnet/rate-server'
import { payReqId } from '@svc/devnet/services/market'
import { ed25519Identity, openTestGateway, type TestGateway } from '@svc/devnet/services/test-gateway'
import { readConfig } from '@svc/gateway/config'
import type { Context } from '@svc/gateway/context'
import type { Document } from '@svc/gateway/continuity/documents'
import { readLocker } from '@svc/gateway/evidence/read-locker'
import { addStatement } from '@svc/gateway/evidence/statements'
import { findAttestation, findRecord } from '@svc/gateway/evidence/store'
import { findLocker } from '@svc/gateway/lockers/store'
import { openTools } from '@svc/gateway/open-tools'
import { watch } from '@svc/gateway/publication/publisher'
import { type Publishable, publishStatement, STATEMENTS } from '@svc/gateway/publication/statements'
import { confirmPayment } from '@svc/gateway/purchases/protocols/transaction'
import { replay } from '@svc/gateway/views/admin/replay/replay'
import { readEvidence } from '@svc/gateway/views/evidence/read-evidence'
import { openModules } from '@svc/gateway/wire'
import { toBase58 } from '@svc/protocol/bytes'
import type { WireRequest } from '@svc/service/http/wire-request'
import { word } from '../src/documents.ts'
import type { Bounds, Step } from '../src/state.ts'
import { type Stepped, type Stop, startStepped } from './stepped.ts'

type Work = Parameters<typeof startStepped>[1]

const COMMITTED = ['commit', 'recordInJournal'] as const

/** The kinds of documents that the model has. */
const KINDS = ['receipt', 'unclaimed', 'statement', 'publication']

/** What model and gateways must agree on. Documents have the names of the model. */
export interface Observed {
  docs: string[]
  journal: string[]
  gates: string[]
  stops: (string | null)[]
}

export interface RealGateways {
  perform(step: Step): Promise<void>
  observe(): Promise<Observed>
  close(): Promise<void>
}

const keys = {
  STATEMENT_KEY: '0a'.repeat(32),
  SHORT_URL_KEY: '0d'.repeat(32),
  PUBLICATION_KEY: Buffer.from(PUBLICATION.privateKeyBytes).toString('hex'),
}

export async function openRealGateways(bounds: Bounds): Promise<RealGateways> {
  const clock = testClock()
  const primary = await startPrimaryChain({ port: 0, now: clock.now })
  const { chain } = primary
  /** Transactions that nodes have accepted and no block has. */
  const pool = new Map<string, string>()
  const node = await startFaultyNode(primary.url, async ({ method, params, honest }) => {
    if (method !== 'sendTransaction') return { body: await honest() }
    const [raw] = params as [string]
    const tx = signatureOf(raw)
    if (!chain.transaction(tx)) pool.set(tx, raw)
    return { body: JSON.stringify({ jsonrpc: '2.0', id: 1, result: tx }) }
  })
  const rates = await startRateServer({ now: clock.now })
  const folder = await mkdtemp(join(tmpdir(), 'svc-model-'))
  const file = join(folder, 'gateway.sqlite')
  const variables = {
    ...keys,
    DATA_DIR: folder,
    DATABASE_URL: `sqlite:${file}`,
    LOGBOOK_DIR: join(folder, 'logbook'),
    STORAGE_DIR: join(folder, 'files'),
    PRIMARY_RPC_URLS: node.url,
    PRIMARY_TREASURY: TREASURY.address,
    ORACLE_URL: rates.url,
    CHAIN_WAIT_SECONDS: 'anchor=0',
    PUBLISH: 'on_request',
  }
  const open = () => openTestGateway(variables, { clock })
  const gateways: TestGateway[] = []
  for (let i = 0; i < bounds.processes; i++) gateways.push(await open())
  const operations: (Stepped | null)[] = gateways.map(() => null)
  /** Real ids, by the names of the model; and the names, by id. */
  const ids = new Map<string, string>()
  const names = new Map<string, string>()
  function name(id: string, text: string): void {
    ids.set(text, id)
    names.set(id, text)
  }

  const db = () => gateways[0]!.gateway.context.database.db
  const quotes = new Map<string, Awaited<ReturnType<TestGateway['quote']>>>()

  async function quote(actor: number, about: string): Promise<void> {
    const made = await gateways[actor]!.quote({ units: 1 })
    quotes.set(about, made)
    name(payReqId(made), about)
  }

  const isAttested = bounds.statements > 0 || bounds.anchors > 0
  const locker = isAttested ? await gateways[0]!.locker(ed25519Identity()) : null
  await locker?.put('a', 'a')
  for (const doc of bounds.docs) {
    if (doc.startsWith('quote')) await quote(0, word(doc, 1))
    else await writeFirst(word(doc, 1))
  }
  for (const index of gateways.keys()) await compare(index, 'current')
  chain.settle()
  chain.hold()

  async function writeFirst(digest: string): Promise<void> {
    const { context } = gateways[0]!.gateway
    await nextStatement(context, context)
    await nameStatement(digest)
  }

  /** Only what follows the reading of the locker is stepped. */
  async function nextStatement(stepped: Context, context: Context) {
    const found = await findLocker(context.database.db, locker!.lockerId)
    const known = await findAttestation(context.database.db, locker!.receiptId)
    const snapshot = await readLocker(context, found!)
    if (snapshot instanceof Error) throw snapshot
    const sequence = known?.sequence ?? null
    return addStatement(stepped, found!, {
      snapshot,
      replacing: sequence,
      force: sequence,
      publish: false,
      isLimited: false,
    })
  }

  function statementRows() {
    const rows = db().selectFrom('statements').select(['sequence', 'statement_digest'])
    return rows
      .where('receipt_id', '=', locker?.receiptId ?? '')
      .orderBy('sequence')
      .execute()
  }

  function publicationRows() {
    return db().selectFrom('publications').select(['tx', 'sequence', 'state']).execute()
  }

  /** False if no statement was written. */
  async function nameStatement(text: string): Promise<boolean> {
    const added = (await statementRows()).find(({ statement_digest }) => !names.has(statement_digest!))
    if (added) name(added.statement_digest!, text)
    return added !== undefined
  }

  async function start(actor: number, work: Work, stops: readonly Stop[], changes = {}): Promise<void> {
    const started = await startStepped(gateways[actor]!.gateway.context, work, stops, changes)
    operations[actor] = started
    if (stops.includes('send')) isWatching.add(started)
  }

  /** Pushes and watches, which do more than the model has. */
  const isWatching = new WeakSet<Stepped>()

  async function reopen(indexes: readonly number[], between: () => Promise<void> = async () => {}): Promise<void> {
    for (const index of indexes) {
      operations[index] = null
      await gateways[index]!.close()
    }
    await between()
    for (const index of indexes) gateways[index] = await open()
  }

  function backUp(): void {
    const source = new DatabaseSync(file)
    source.exec(`vacuum into '${file}.backup'`)
    source.close()
  }

  async function restoreBackup(): Promise<void> {
    for (const ending of ['-wal', '-shm']) await rm(file + ending, { force: true })
    await copyFile(`${file}.backup`, file)
  }

  /** As `svc-gateway replay`, which is a process of its own. */
  async function runReplay(): Promise<void> {
    const { config, secrets } = readConfig({
      SVC_MODE: 'development',
      LOG_LEVEL: 'silent',
      LOCAL_PROVIDERS: 'gcs',
      ...variables,
    })
    await using opened = new AsyncDisposableStack()
    const context = await openModules(await openTools(config, secrets, { now: clock.now }, opened), secrets)
    await replay(context, { identity: 'a test' }, { reason: 'a test', accept: false })
  }

  async function compare(actor: number, found: string): Promise<void> {
    const { continuity } = gateways[actor]!.gateway.context
    continuity.compareAgain()
    const isFound = async () => (continuity.status().state === found ? true : null)
    if (!(await poll(isFound, { intervalMs: 10, timeoutMs: 30_000 }))) throw new Error(`the database is not ${found}`)
  }

  async function performOutside(action: string, about: string): Promise<void> {
    const tx = ids.get(about) ?? ''
    if (action === 'pay') {
      const leg = quotes.get('q1')!.accepts[0]!
      name(await payLeg({ primary, evm: primary }, leg, { memo: null, payer: Number(about[1]) - 1 }), about)
      if (bounds.fork === 0) chain.settle()
    }
    if (action === 'process') clock.advance(0.4)
    if (action === 'confirm' || action === 'finalize') chain.settle()
    if (action === 'fork') chain.fork(about.startsWith('a') ? { drop: [tx] } : {})
    if (action === 'drop') pool.delete(tx)
    if (action === 'land') {
      await call(primary.url, 'sendTransaction', [pool.get(tx), { encoding: 'base64', skipPreflight: true }])
      pool.delete(tx)
      clock.advance(1.2)
    }
    if (action === 'expire') {
      pool.clear()
      chain.expireBlockhashes()
      clock.advance(2)
    }
    if (action === 'backUp') backUp()
    if (action === 'restore') await reopen([...gateways.keys()], restoreBackup)
  }

  async function performBy(actor: number, { action, about, next }: Step): Promise<void> {
    const running = operations[actor]
    switch (action) {
      case 'quote':
        return quote(actor, about)
      case 'readPayment': {
        const [id, tx] = about.split('/') as [string, string]
        const body = { pay_req_id: payReqId(quotes.get(id)!) }
        const wire = { headers: { 'x402-tx': ids.get(tx)! }, clientAddress: '127.0.0.1' } as unknown as WireRequest // what it reads
        return start(actor, (stepped) => confirmPayment(stepped, body, wire), [
          ...COMMITTED,
          'requireWritten',
          'answer',
        ])
      }
      case 'findPredecessor':
        return start(actor, (stepped) => nextStatement(stepped, gateways[actor]!.gateway.context), [
          'requireWritten',
          'signNext',
          ...COMMITTED,
          'answer',
        ])
      case 'readStatement':
        return start(actor, (stepped) => readEvidence(stepped, locker!.receiptId), ['requireWritten', 'answer'])
      case 'sign':
        // With the same blockhash, signing again would give the same transaction.
        clock.advance(0.4)
        return start(
          actor,
          async (stepped) => {
            const record = await findRecord(stepped.database.db, locker!.receiptId)
            return publishStatement(stepped, stepped.primaryChain!, record as Publishable)
          },
          [...COMMITTED, 'requireWritten', 'send'],
        )
      case 'watch':
        return start(actor, (stepped) => watch(stepped, STATEMENTS), [...COMMITTED, 'requireWritten', 'send'], {
          now: () => clock.now() + 100_000,
        })
      case 'crash':
        return reopen([actor])
      case 'compare':
        return compare(actor, about)
      case 'replay':
        return
      case 'restoreDocument':
        return runReplay()
    }
    await running!.resume()
    // The push waits for the outcome, and the watch goes on with other transactions; in the model another watch does.
    if (next.processes[actor]!.operation === null && isWatching.has(running!)) operations[actor] = null
    // The caller does not try again.
    if (action === 'addStatement' && !(await nameStatement(about))) operations[actor] = null
    const row = (await publicationRows()).find(({ tx }) => !names.has(tx))
    if (action === 'record' && row) name(row.tx, about)
  }

  async function journal(): Promise<string[]> {
    const { location } = gateways[0]!.gateway.context.continuity
    const found = new Set<string>()
    for await (const read of readJournal(location!.folder, location!.sealing, new Map())) {
      if (!('entry' in read)) throw new Error(read.problem)
      const { document } = JSON.parse(read.entry) as { document: Document }
      if (KINDS.includes(document.kind)) found.add(keyOfDocument(document))
    }
    return [...found].sort()
  }

  function keyOfDocument(document: Document): string {
    if (document.kind === 'receipt') return `receipt ${bought(document.receipt)}`
    if (document.kind === 'unclaimed') return `unclaimed ${names.get(document.unclaimed.tx)}`
    return `${document.kind} ${names.get(document.key)}`
  }

  function bought({ pay_req_id, tx }: { pay_req_id: string; tx: string }): string {
    return `${names.get(pay_req_id)}/${names.get(tx)}`
  }

  return {
    perform: (step) => (step.actor === null ? performOutside(step.action, step.about) : performBy(step.actor, step)),
    async observe() {
      const receipts = await db().selectFrom('receipts').select(['pay_req_id', 'tx']).execute()
      const unclaimed = await db().selectFrom('unclaimed_payments').select(['pay_req_id', 'tx']).execute()
      const publications = await publicationRows()
      const statements = await statementRows()
      const digests = ['', ...statements.map(({ statement_digest }) => names.get(statement_digest!))]
      return {
        docs: [
          ...receipts.filter(({ pay_req_id }) => names.has(pay_req_id)).map((row) => `receipt ${bought(row)}`),
          ...unclaimed.map(({ pay_req_id, tx }) => `unclaimed ${names.get(tx)} ${names.get(pay_req_id)}`),
          ...statements.map(({ sequence }, i) => `statement ${digests[i + 1]} ${sequence} ${digests[i]}`),
          ...publications.map(
            ({ tx, sequence, state }) => `publication ${names.get(tx)} ${digests[sequence]} ${state}`,
          ),
        ].sort(),
        journal: await journal(),
        gates: gateways.map(({ gateway }) => gateway.context.continuity.status().state),
        stops: operations.map((operation) => operation?.at ?? null),
      }
    },
    async close() {
      for (const gateway of gateways) await gateway.close()
      await node.stop()
      await rates.stop()
      await primary.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The first signature of a transaction is its id. */
function signatureOf(raw: string): string {
  return toBase58(Buffer.from(raw, 'base64').subarray(1, 65))
}
