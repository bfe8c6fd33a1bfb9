import type { Address } from '@solana/kit'
import type { SolanaNetwork } from '@svc/api/networks'
import type { LiteSVM } from 'litesvm'
import type { Landing } from '../landing.ts'
import type { Journal } from './journal.ts'
import { loadAccount } from './journal-entry.ts'
import type { Past } from './snapshot.ts'
import {
  AT_ONCE,
  CLOCK_SYSVAR,
  COMMITMENTS,
  type Commitment,
  createBlockhashes,
  createTimeline,
  FIRST_SLOT,
  type IssuedBlockhash,
  LATER,
  MAX_AGE_IN_BLOCKS,
  SLOT_MS,
  setClock,
  type Timeline,
  type View,
  viewAt,
} from './timeline.ts'
import { type Account, liveAccount } from './transactions/accounts.ts'
import type { TransactionError } from './transactions/errors.ts'
import type { Machine, Outcome } from './transactions/execute.ts'
import {
  createAccountHistory,
  createLedger,
  type PastTransaction,
  type TransactionRecord,
} from './transactions/history.ts'
import { createPool } from './transactions/pool.ts'
import {
  preflight,
  rollBack,
  type SimulatedTransaction,
  type Slot,
  type State,
  simulateOn,
  submit,
} from './transactions/submit.ts'
import { decodeWireTransaction, type WireTransaction } from './transactions/wire-transaction.ts'

export interface PrimaryChain {
  readonly network: SolanaNetwork
  readonly svm: LiteSVM
  readonly timeline: Timeline
  view(commitment: Commitment): View
  /** The oldest slot whose transactions are known. */
  firstSlot(): number
  account(address: Address, view: View): Account | null
  programAccounts(program: Address, view: View): Account[]
  transaction(signature: string): TransactionRecord | undefined
  /** A transaction as it was before the last fork, which moved or dropped it. */
  leftByFork(signature: string): TransactionRecord | undefined
  /** In the order of their slots. */
  transactions(): readonly PastTransaction[]
  commitmentOf(record: TransactionRecord): Commitment
  blockTime(slot: number): number
  latestBlockhash(view: View): IssuedBlockhash
  isBlockhashValid(blockhash: string, view: View): boolean
  /** Why the chain would refuse a transaction at `view`; null when it would not. */
  refusal(wire: WireTransaction, view: View): TransactionError | null
  /** Accepts a transaction, which lands according to `Landing`. */
  send(wire: WireTransaction): void
  /** Runs a transaction immediately, in its own slot. */
  submit(wire: WireTransaction): TransactionRecord | { dropped: TransactionError }
  /** Whether the transaction would succeed, signatures included. */
  preflight(wire: WireTransaction): Outcome
  simulate(wire: WireTransaction, verifySignatures: boolean): SimulatedTransaction
  /** Moves the chain's time forward. */
  advanceTime(milliseconds: number): void
  /** Skips so many blocks that every blockhash issued so far has expired, for reads at any commitment. */
  expireBlockhashes(): void
  /** Nodes call this before they answer a request. */
  pass(method: string): void
  /** Lands all transactions that were sent, and makes them final. */
  settle(): void
  /** From now on, only the clock moves the chain. */
  hold(): void
  /** Ends `hold`. */
  resume(): void
  /**
   * Abandons the slots that are not final. Their transactions land again in later slots; dropped ones must be sent
   * again.
   */
  fork(options?: { drop?: readonly string[] }): void
  close(): void
}

export interface ChainOptions extends Machine {
  readonly network: SolanaNetwork
  readonly landing: Landing
  readonly now: () => number
  readonly journal: Journal
  readonly past: Past
}

export function createChain(options: ChainOptions): PrimaryChain {
  const { svm, withRegistry, journal, past } = options
  const genesisTime = past.genesisTime ?? Math.floor(options.now())
  const timeline = createTimeline(options.now, genesisTime, Math.max(past.time, genesisTime))
  const blockhashes = createBlockhashes(genesisTime, (blockhash) =>
    journal.append({ time: timeline.time(), blockhash }),
  )
  const state: State = {
    svm,
    withRegistry,
    timeline,
    ledger: createLedger(past.transactions),
    history: createAccountHistory(),
    journal,
    programs: new Map(),
  }
  const pool = createPool()
  const ageing = options.landing === 'later' ? LATER : AT_ONCE
  let isHeld = false
  let isSlotDue = false
  let left = new Map<string, TransactionRecord>()
  restore(state, blockhashes.restore, past)
  if (past.genesisTime === null) journal.append({ time: genesisTime, genesis: 'svc primary chain 1' })

  const view = (commitment: Commitment) => viewAt(timeline, ageing, commitment)

  function account(address: Address, { slot, time }: View): Account | null {
    if (address === CLOCK_SYSVAR) setClock(svm, timeline, slot, time)
    const past = state.history.at(address, slot)
    return past === undefined ? liveAccount(svm, address) : past
  }

  function refusal(wire: WireTransaction, at: Pick<View, 'slot' | 'height'>): TransactionError | null {
    if (!blockhashes.isValid(wire.message.lifetimeToken, at)) return 'BlockhashNotFound'
    return state.ledger.has(wire.bytes) ? 'AlreadyProcessed' : null
  }

  function run(wire: WireTransaction, { slot, time }: Slot): TransactionRecord | { dropped: TransactionError } {
    const dropped = refusal(wire, { slot, height: timeline.heightAt(time) })
    if (dropped !== null) return { dropped }
    state.history.forgetUpTo(view('finalized').slot - SLOTS_REMEMBERED)
    return submit(state, wire, { slot, time })
  }

  function addSlot(): Slot {
    const time = timeline.time()
    timeline.addSlot(time)
    return { slot: timeline.slotAt(time), time }
  }

  function land(slot: Slot): void {
    for (const wire of pool.take()) run(wire, slot)
  }

  /** Lands the pool once the clock has reached the slot after the one in which its oldest transaction was sent. */
  function landByClock(): void {
    const time = pool.since() + SLOT_MS
    if (!pool.isEmpty() && timeline.time() >= time) land({ slot: timeline.slotAt(time), time })
  }

  return {
    network: options.network,
    svm,
    timeline,
    view,
    firstSlot: () => FIRST_SLOT,
    account,
    leftByFork: (signature) => left.get(signature),
    refusal,
    programAccounts(program, at) {
      const addresses = new Set(svm.getProgramAccounts(program).map(({ address }) => address))
      for (const address of state.history.addresses()) addresses.add(address)
      return [...addresses].flatMap((address) => {
        const found = account(address, at)
        return found?.programAddress === program ? [found] : []
      })
    },
    transaction(signature) {
      landByClock()
      return state.ledger.find(signature)
    },
    transactions() {
      landByClock()
      return state.ledger.all()
    },
    commitmentOf: ({ slot }) => COMMITMENTS.findLast((commitment) => slot <= view(commitment).slot) ?? 'processed',
    blockTime(slot) {
      const last = state.ledger.lastUpTo(slot)
      const blocksSince = slot - (last?.slot ?? timeline.slotAt(genesisTime))
      return Math.floor(Math.min((last?.time ?? genesisTime) + blocksSince * SLOT_MS, timeline.time()) / 1000)
    },
    latestBlockhash: blockhashes.issue,
    isBlockhashValid: blockhashes.isValid,
    send(wire) {
      landByClock()
      if (options.landing === 'later') pool.add(wire, timeline.time())
      else run(wire, addSlot())
    },
    submit(wire) {
      landByClock()
      return run(wire, addSlot())
    },
    preflight: (wire) => preflight(state, wire),
    simulate: (wire, verifySignatures) => simulateOn(state, wire, verifySignatures),
    advanceTime: timeline.advance,
    expireBlockhashes() {
      if (!isHeld && !pool.isEmpty()) land(addSlot())
      const skippedBlocks = MAX_AGE_IN_BLOCKS + 1 + ageing.finalized
      journal.append({ time: timeline.time(), skippedBlocks })
      timeline.skipBlocks(skippedBlocks)
    },
    pass(method) {
      landByClock()
      if (isSlotDue && !isHeld) land(addSlot())
      // A client that queries a transaction right after sending it does not find it yet.
      isSlotDue = options.landing === 'later' && method !== 'sendTransaction'
    },
    settle() {
      if (options.landing === 'at once') return
      land(addSlot())
      for (let age = 0; age < ageing.finalized; age++) addSlot()
    },
    hold() {
      isHeld = true
    },
    resume() {
      isHeld = false
    },
    fork({ drop = [] } = {}) {
      const records = rollBack(state, view('finalized').slot)
      left = new Map(records.map((record) => [record.signature, record]))
      const sent = [...records.map(wireOf), ...pool.take()]
      for (const wire of sent) if (!drop.includes(wire.signatures[0]!)) pool.add(wire, timeline.time())
      isSlotDue = false
    },
    close: journal.close,
  }
}

/** How many slots a node that reads accounts may be behind. */
const SLOTS_REMEMBERED = 150

function wireOf({ wire }: TransactionRecord): WireTransaction {
  return decodeWireTransaction(new Uint8Array(Buffer.from(wire, 'base64')))
}

function restore(state: State, restoreBlockhash: (issued: IssuedBlockhash) => void, past: Past): void {
  state.timeline.skipBlocks(past.skippedBlocks)
  state.timeline.restore(past.transactions)
  for (const issued of past.blockhashes) restoreBlockhash(issued)
  // A program can be loaded only after the account that holds its code.
  const accounts = past.accounts.map(loadAccount)
  const programsLast = accounts.sort((a, b) => Number(a.executable) - Number(b.executable))
  for (const account of programsLast) state.svm.setAccount(account)
}
