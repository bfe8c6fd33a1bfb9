import type { Address } from '@solana/kit'
import type { LiteSVM } from 'litesvm'
import type { Journal } from '../journal.ts'
import { loadAccount, storeAccount } from '../journal-entry.ts'
import { LOOKUP_TABLE_PROGRAM, setClock, setSlotHashes, type Timeline } from '../timeline.ts'
import {
  type Account,
  type AccountKey,
  type AccountsByAddress,
  lamportsOf,
  liveAccount,
  tokenBalances,
} from './accounts.ts'
import type { TransactionError } from './errors.ts'
import { execute, type Machine, type Outcome, type Simulation, simulate } from './execute.ts'
import type { AccountHistory, Ledger, TransactionRecord } from './history.ts'
import { accountKeys, type LoadedAddresses, loadAddresses, type WireTransaction } from './wire-transaction.ts'

export interface State extends Machine {
  readonly timeline: Timeline
  readonly ledger: Ledger
  readonly history: AccountHistory
  readonly journal: Journal
  /** Cached program accounts: they are large, and a transaction that only reads them cannot change them. */
  readonly programs: Map<Address, Account>
}

/** The slot that a transaction runs in. */
export interface Slot {
  readonly slot: number
  /** Milliseconds. */
  readonly time: number
}

/** Runs a transaction whose lifetime has been checked. One that cannot pay its fee leaves no trace. */
export function submit(
  state: State,
  wire: WireTransaction,
  { slot, time }: Slot,
): TransactionRecord | { dropped: TransactionError } {
  const { svm, ledger, history, journal } = state
  const { keys, loaded, before } = prepare(state, wire, { slot, time })

  const outcome = execute(state, wire)
  const after = new Map(before)
  for (const key of keys) if (key.writable) after.set(key.address, liveAccount(svm, key.address))
  const meta = balanceMeta(svm, keys, before, after)
  if (outcome.err !== null && meta.fee === 0n) return { dropped: outcome.err }

  const signature = wire.signatures[0]!
  const { version } = wire.message
  const record = {
    signature,
    slot,
    time,
    wire: base64(wire.bytes),
    version,
    ...outcome,
    ...meta,
    loadedAddresses: loaded,
  }
  const changed = [...after].filter(([address, account]) => !isSame(before.get(address) ?? null, account))
  journal.append({
    time,
    transaction: record,
    accounts: changed.map(([address, account]) => storeAccount(address, account)),
  })
  ledger.add(record)
  for (const [address] of changed) history.record(slot, address, before.get(address) ?? null)
  return record
}

/** Whether a transaction would succeed, signatures included. */
export function preflight(state: State, wire: WireTransaction): Outcome {
  enterSlot(state, wire, nextSlot(state))
  return simulate(state, wire, true)
}

export type SimulatedTransaction = Simulation &
  ReturnType<typeof balanceMeta> & { readonly loadedAddresses: LoadedAddresses }

export function simulateOn(state: State, wire: WireTransaction, verifySignatures: boolean): SimulatedTransaction {
  const { keys, loaded, before } = prepare(state, wire, nextSlot(state))
  const simulation = simulate(state, wire, verifySignatures)
  const simulated = simulation.accountsAfter()
  const after = new Map([...before].map(([address, account]) => [address, simulated.get(address) ?? account]))
  return { ...simulation, ...balanceMeta(state.svm, keys, before, after), loadedAddresses: loaded }
}

/** Restores the accounts as of a slot, and removes the transactions after it. */
export function rollBack({ svm, history, ledger, programs }: State, slot: number): TransactionRecord[] {
  for (const address of history.addresses()) {
    const before = history.at(address, slot)
    if (before === undefined) continue
    svm.setAccount(before ?? loadAccount({ address }))
    programs.delete(address)
  }
  history.forgetAfter(slot)
  return ledger.removeAfter(slot)
}

function prepare(state: State, wire: WireTransaction, slot: Slot) {
  enterSlot(state, wire, slot)
  const loaded = loadAddresses(wire.message, (address) => liveAccount(state.svm, address))
  const keys = accountKeys(wire.message, loaded)
  const before = new Map(keys.map((key) => [key.address, readKey(state, key)]))
  return { loaded, keys, before }
}

function nextSlot({ timeline }: State): Slot {
  const time = timeline.time()
  return { slot: timeline.slotAt(time) + 1, time }
}

function enterSlot({ svm, timeline }: State, wire: WireTransaction, { slot, time }: Slot): void {
  setClock(svm, timeline, slot, time)
  if (wire.message.staticAccounts.includes(LOOKUP_TABLE_PROGRAM)) setSlotHashes(svm, timeline, slot)
}

function readKey({ svm, programs }: State, { address, writable }: AccountKey): Account | null {
  if (writable) programs.delete(address)
  const known = programs.get(address)
  if (known) return known
  const account = liveAccount(svm, address)
  if (account?.executable && !writable) programs.set(address, account)
  return account
}

function balanceMeta(svm: LiteSVM, keys: readonly AccountKey[], before: AccountsByAddress, after: AccountsByAddress) {
  const getAccount = (address: Address) => liveAccount(svm, address)
  const preBalances = keys.map((key) => lamportsOf(before.get(key.address)))
  const postBalances = keys.map((key) => lamportsOf(after.get(key.address)))
  const total = (balances: readonly bigint[]) => balances.reduce((sum, balance) => sum + balance, 0n)
  return {
    // Lamports move only among the accounts of a transaction, so the missing sum is the fee.
    fee: total(preBalances) - total(postBalances),
    preBalances,
    postBalances,
    preTokenBalances: tokenBalances(keys, before, getAccount),
    postTokenBalances: tokenBalances(keys, after, getAccount),
  }
}

function isSame(before: Account | null, after: Account | null): boolean {
  if (before === null || after === null) return before === after
  return (
    before.lamports === after.lamports &&
    before.programAddress === after.programAddress &&
    before.executable === after.executable &&
    Buffer.from(before.data).equals(Buffer.from(after.data))
  )
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
