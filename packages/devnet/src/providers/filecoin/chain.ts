// The contract that keeps data sets, on a chain that advances with every request.

import { randomBytes } from 'node:crypto'
import { type Address, encodeErrorResult, type Hex, isAddressEqual, maxUint128, parseAbi, toHex } from 'viem'
import { type Domain, readAddition, readCreation } from './signatures.ts'

interface DataSet {
  payer: Address
  clientDataSetId: bigint
  /** In the order they were added. */
  pieces: string[]
  hasEnded: boolean
}

/** The payer's funds at Filecoin Pay, and what the contract may lock up. A piece locks up one unit per byte. */
interface Account {
  isApproved: boolean
  lockupAllowance: bigint
  lockupUsage: bigint
  funds: bigint
}

export const FUNDED = { isApproved: true, lockupAllowance: maxUint128, funds: maxUint128 }

export function availableFunds({ funds, lockupUsage }: Account): bigint {
  return funds > lockupUsage ? funds - lockupUsage : 0n
}

interface Transaction {
  hash: Hex
  status: 'pending' | 'confirmed' | 'rejected'
  dataSet: bigint
}

interface Piece {
  /** Its content id. */
  text: string
  bytes: Uint8Array
  size: number
}

export interface Chain {
  dataSets: Map<bigint, DataSet>
  transactions: Map<string, Transaction>
  /** Of every payer. */
  account: Account
  /** Both throw a `Revert` when the contract would refuse now. */
  createDataSet(extraData: Hex): Promise<Transaction>
  addPiece(dataSet: bigint, piece: Piece, extraData: Hex): Promise<Transaction>
  /** The answer of `clientNonces`. */
  useOf(payer: Address, nonce: bigint): bigint
  /** Advances the chain by one step. */
  moveOn(): void
  /** How many of the next transactions fail on the chain. */
  rejections: number
  /** No transaction gets on the chain. */
  isStopped: boolean
}

export class Revert extends Error {
  readonly data: Hex

  constructor(data: Hex) {
    super('the contract reverted')
    this.data = data
  }
}

const ERRORS = parseAbi([
  'error InvalidSignature(address expected, address actual)',
  'error ClientDataSetAlreadyRegistered(uint256 clientDataSetId)',
  'error DataSetNotRegistered(uint256 dataSetId)',
  'error OperatorNotApproved(address payer, address operator)',
  'error InsufficientLockupAllowance(address payer, address operator, uint256 lockupAllowance, uint256 lockupUsage, uint256 minimumLockupRequired)',
  'error InsufficientLockupFunds(address payer, uint256 minimumRequired, uint256 available)',
])

export function createChain(domain: Domain, payee: Address, looksToConfirm: number): Chain {
  const uses = new Map<string, bigint>()
  const waiting: { transaction: Transaction; looks: number; effect: () => void }[] = []
  const useKey = (payer: Address, nonce: bigint) => `${payer.toLowerCase()} ${nonce}`

  function requireUnused(payer: Address, nonce: bigint): void {
    if (!uses.has(useKey(payer, nonce))) return
    throw new Revert(encodeErrorResult({ abi: ERRORS, errorName: 'ClientDataSetAlreadyRegistered', args: [nonce] }))
  }

  function requireSigner(payer: Address, signer: Address): void {
    if (isAddressEqual(payer, signer)) return
    throw new Revert(encodeErrorResult({ abi: ERRORS, errorName: 'InvalidSignature', args: [payer, signer] }))
  }

  function requireFunds(payer: Address, required: bigint): void {
    const { verifyingContract: operator } = domain
    const { isApproved, lockupAllowance, lockupUsage } = chain.account
    const available = availableFunds(chain.account)
    if (!isApproved) {
      throw new Revert(encodeErrorResult({ abi: ERRORS, errorName: 'OperatorNotApproved', args: [payer, operator] }))
    }
    if (lockupUsage + required > lockupAllowance) {
      const args = [payer, operator, lockupAllowance, lockupUsage, required] as const
      throw new Revert(encodeErrorResult({ abi: ERRORS, errorName: 'InsufficientLockupAllowance', args }))
    }
    if (required > available) {
      const args = [payer, required, available] as const
      throw new Revert(encodeErrorResult({ abi: ERRORS, errorName: 'InsufficientLockupFunds', args }))
    }
  }

  function send(dataSet: bigint, effect: () => void): Transaction {
    const transaction: Transaction = { hash: toHex(randomBytes(32)), status: 'pending', dataSet }
    chain.transactions.set(transaction.hash, transaction)
    waiting.push({ transaction, looks: looksToConfirm, effect })
    return transaction
  }

  function execute(transaction: Transaction, effect: () => void): void {
    try {
      if (chain.rejections-- > 0) throw new Error('out of gas')
      effect()
      transaction.status = 'confirmed'
    } catch {
      transaction.status = 'rejected'
    }
  }

  const chain: Chain = {
    dataSets: new Map(),
    transactions: new Map(),
    account: { ...FUNDED, lockupUsage: 0n },
    rejections: 0,
    isStopped: false,
    async createDataSet(extraData) {
      const { payer, clientDataSetId, signer } = await readCreation(extraData, payee, domain)
      requireUnused(payer, clientDataSetId)
      requireSigner(payer, signer)
      requireFunds(payer, 1n)
      const id = BigInt(1000 + chain.transactions.size)
      return send(id, () => {
        requireUnused(payer, clientDataSetId)
        uses.set(useKey(payer, clientDataSetId), id)
        chain.dataSets.set(id, { payer, clientDataSetId, pieces: [], hasEnded: false })
      })
    },
    async addPiece(id, piece, extraData) {
      const dataSet = chain.dataSets.get(id)
      if (!dataSet || dataSet.hasEnded) {
        throw new Revert(encodeErrorResult({ abi: ERRORS, errorName: 'DataSetNotRegistered', args: [id] }))
      }
      const { payer, clientDataSetId } = dataSet
      const { nonce, signer } = await readAddition(extraData, clientDataSetId, [piece.bytes], domain)
      requireUnused(payer, nonce)
      requireSigner(payer, signer)
      requireFunds(payer, BigInt(piece.size))
      return send(id, () => {
        requireUnused(payer, nonce)
        requireFunds(payer, BigInt(piece.size))
        chain.account.lockupUsage += BigInt(piece.size)
        dataSet.pieces.push(piece.text)
        uses.set(useKey(payer, nonce), (BigInt(dataSet.pieces.length) << 128n) | id)
      })
    },
    useOf: (payer, nonce) => uses.get(useKey(payer, nonce)) ?? 0n,
    moveOn() {
      if (chain.isStopped) return
      for (const entry of waiting) entry.looks--
      for (const { transaction, effect } of waiting.filter(({ looks }) => looks <= 0)) execute(transaction, effect)
      waiting.splice(0, waiting.length, ...waiting.filter(({ looks }) => looks > 0))
    },
  }
  return chain
}
