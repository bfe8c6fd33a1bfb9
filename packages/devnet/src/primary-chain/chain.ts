import type { Address } from '@solana/kit'
import type { LiteSVM } from 'litesvm'
import type { Journal } from './journal.ts'
import { loadAccount } from './journal-entry.ts'
import type { Past } from './snapshot.ts'
import {
  type Ageing,
  CLOCK_SYSVAR,
  type Commitment,
  commitmentOf,
  createBlockhashes,
  createTimeline,
  type IssuedBlockhash,
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
import { preflight, type SimulatedTransaction, type State, simulateOn, submit } from './transactions/submit.ts'
import type { WireTransaction } from './transactions/wire-transaction.ts'

export interface PrimaryChain {
  readonly svm: LiteSVM
  readonly timeline: Timeline
  view(commitment: Commitment): View
  account(address: Address, view: View): Account | null
  programAccounts(program: Address, view: View): Account[]
  transaction(signature: string): TransactionRecord | undefined
  /** In the order of their slots. */
  transactions(): readonly PastTransaction[]
  commitmentOf(record: TransactionRecord): Commitment
  blockTime(slot: number): number
  latestBlockhash(view: View): IssuedBlockhash
  isBlockhashValid(blockhash: string, view: View): boolean
  /** Why the chain would refuse a transaction at `view`; null when it would not. */
  refusal(wire: WireTransaction, view: View): TransactionError | null
  submit(wire: WireTransaction): TransactionRecord | { dropped: TransactionError }
  /** Whether the transaction would succeed, signatures included. */
  preflight(wire: WireTransaction): Outcome
  simulate(wire: WireTransaction, verifySignatures: boolean): SimulatedTransaction
  /** Moves the chain's time forward. */
  advanceTime(milliseconds: number): void
  /** Skips 151 blocks, so that every blockhash issued so far has expired. */
  expireBlockhashes(): void
  close(): void
}

export interface ChainOptions extends Ageing, Machine {
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
  restore(state, blockhashes.restore, past)
  if (past.genesisTime === null) journal.append({ time: genesisTime, genesis: 'svc primary chain 1' })

  const view = (commitment: Commitment) => viewAt(timeline, options, commitment)

  function account(address: Address, { cutoff }: View): Account | null {
    if (address === CLOCK_SYSVAR) setClock(svm, timeline, timeline.slotAt(cutoff), cutoff)
    const past = state.history.at(address, cutoff)
    return past === undefined ? liveAccount(svm, address) : past
  }

  function refusal(wire: WireTransaction, at: View): TransactionError | null {
    if (!blockhashes.isValid(wire.message.lifetimeToken, at)) return 'BlockhashNotFound'
    return state.ledger.has(wire.bytes) ? 'AlreadyProcessed' : null
  }

  return {
    svm,
    timeline,
    view,
    account,
    refusal,
    programAccounts(program, at) {
      const addresses = new Set(svm.getProgramAccounts(program).map(({ address }) => address))
      for (const address of state.history.addresses()) addresses.add(address)
      return [...addresses].flatMap((address) => {
        const found = account(address, at)
        return found?.programAddress === program ? [found] : []
      })
    },
    transaction: (signature) => state.ledger.find(signature),
    transactions: state.ledger.all,
    commitmentOf: (record) => commitmentOf(record.time, timeline.time(), options),
    blockTime(slot) {
      const last = state.ledger.lastUpTo(slot)
      const blocksSince = slot - (last?.slot ?? timeline.slotAt(genesisTime))
      return Math.floor(Math.min((last?.time ?? genesisTime) + blocksSince * SLOT_MS, timeline.time()) / 1000)
    },
    latestBlockhash: blockhashes.issue,
    isBlockhashValid: blockhashes.isValid,
    submit(wire) {
      const dropped = refusal(wire, view('processed'))
      if (dropped !== null) return { dropped }
      state.history.forgetUpTo(view('finalized').cutoff)
      return submit(state, wire)
    },
    preflight: (wire) => preflight(state, wire),
    simulate: (wire, verifySignatures) => simulateOn(state, wire, verifySignatures),
    advanceTime: timeline.advance,
    expireBlockhashes() {
      journal.append({ time: timeline.time(), skippedBlocks: 151 })
      timeline.skipBlocks(151)
    },
    close: journal.close,
  }
}

function restore(state: State, restoreBlockhash: (issued: IssuedBlockhash) => void, past: Past): void {
  state.timeline.skipBlocks(past.skippedBlocks)
  for (const { time } of past.transactions) state.timeline.countTransaction(time)
  for (const issued of past.blockhashes) restoreBlockhash(issued)
  // A program can be loaded only after the account that holds its code.
  const accounts = past.accounts.map(loadAccount)
  const programsLast = accounts.sort((a, b) => Number(a.executable) - Number(b.executable))
  for (const account of programsLast) state.svm.setAccount(account)
}
