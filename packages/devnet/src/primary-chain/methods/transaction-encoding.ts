import { type Address, getBase58Decoder } from '@solana/kit'
import type { AccountKey } from '../transactions/accounts.ts'
import type { TransactionRecord } from '../transactions/history.ts'
import { accountKeys, type CompiledMessage, decodeWireTransaction } from '../transactions/wire-transaction.ts'
import { parseInstruction } from './parsed-instructions.ts'

export const TRANSACTION_ENCODINGS = ['json', 'jsonParsed', 'base64', 'base58'] as const
type TransactionEncoding = (typeof TRANSACTION_ENCODINGS)[number]

/** The answer of `getTransaction`; it has `version` only for clients that name the versions they support. */
export function encodeTransaction(record: TransactionRecord, encoding: TransactionEncoding, withVersion: boolean) {
  return {
    slot: record.slot,
    ...encodings[encoding](record),
    blockTime: Math.floor(record.time / 1000),
    ...(withVersion && { version: record.version }),
  }
}

const encodings = {
  base64: (record: TransactionRecord) => ({ transaction: [record.wire, 'base64'], meta: unparsedMeta(record) }),
  base58: (record: TransactionRecord) => {
    const base58 = getBase58Decoder().decode(Buffer.from(record.wire, 'base64'))
    return { transaction: [base58, 'base58'], meta: unparsedMeta(record) }
  },
  json: (record: TransactionRecord) => {
    const { message, signatures } = decodeWireTransaction(Buffer.from(record.wire, 'base64'))
    return { transaction: { signatures, message: jsonMessage(message) }, meta: unparsedMeta(record) }
  },
  jsonParsed: (record: TransactionRecord) => {
    const { message, signatures } = decodeWireTransaction(Buffer.from(record.wire, 'base64'))
    const keys = accountKeys(message, record.loadedAddresses)
    const addresses = keys.map(({ address }) => address)
    return {
      transaction: { signatures, message: parsedMessage(message, keys, addresses) },
      meta: parsedMeta(record, addresses),
    }
  },
}

function unparsedMeta(record: TransactionRecord) {
  const { innerInstructions, loadedAddresses } = record
  return { ...commonMeta(record), innerInstructions, loadedAddresses }
}

function parsedMeta(record: TransactionRecord, addresses: readonly Address[]) {
  const innerInstructions = record.innerInstructions.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((instruction) => parseInstruction(instruction, addresses)),
  }))
  return { ...commonMeta(record), innerInstructions }
}

function commonMeta(record: TransactionRecord) {
  return {
    err: record.err,
    status: record.err === null ? { Ok: null } : { Err: record.err },
    fee: record.fee,
    preBalances: record.preBalances,
    postBalances: record.postBalances,
    logMessages: record.logs,
    preTokenBalances: record.preTokenBalances,
    postTokenBalances: record.postTokenBalances,
    rewards: [],
    ...(record.returnData && { returnData: record.returnData }),
    computeUnitsConsumed: record.unitsConsumed,
  }
}

function jsonMessage(message: CompiledMessage) {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = message.header
  return {
    header: {
      numRequiredSignatures: numSignerAccounts,
      numReadonlySignedAccounts: numReadonlySignerAccounts,
      numReadonlyUnsignedAccounts: numReadonlyNonSignerAccounts,
    },
    accountKeys: message.staticAccounts,
    recentBlockhash: message.lifetimeToken,
    instructions: compiledInstructions(message),
    ...addressTableLookups(message),
  }
}

function parsedMessage(message: CompiledMessage, keys: readonly AccountKey[], addresses: readonly Address[]) {
  return {
    accountKeys: keys.map(({ address, ...key }) => ({ pubkey: address, ...key })),
    recentBlockhash: message.lifetimeToken,
    instructions: compiledInstructions(message).map((instruction) => parseInstruction(instruction, addresses)),
    ...addressTableLookups(message),
  }
}

function compiledInstructions(message: CompiledMessage) {
  return message.instructions.map(({ programAddressIndex, accountIndices, data }) => ({
    programIdIndex: programAddressIndex,
    accounts: accountIndices ?? [],
    data: getBase58Decoder().decode(data ?? new Uint8Array()),
    stackHeight: 1,
  }))
}

function addressTableLookups(message: CompiledMessage) {
  if (message.version !== 0) return {}
  return {
    addressTableLookups: (message.addressTableLookups ?? []).map((lookup) => ({
      accountKey: lookup.lookupTableAddress,
      writableIndexes: lookup.writableIndexes,
      readonlyIndexes: lookup.readonlyIndexes,
    })),
  }
}
