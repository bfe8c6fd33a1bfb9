import { type Address, getBase58Decoder } from '@solana/kit'
import type { TransactionRecord } from './ledger.ts'
import { parseInstruction } from './parsed-instructions.ts'
import { accountKeys, type CompiledMessage, decodeWireTransaction } from './wire-transaction.ts'

export const TRANSACTION_ENCODINGS = ['json', 'jsonParsed', 'base64', 'base58'] as const
export type TransactionEncoding = (typeof TRANSACTION_ENCODINGS)[number]

/** The answer of `getTransaction`; `version` stands in it only for clients that say which versions they know. */
export function encodeTransaction(record: TransactionRecord, encoding: TransactionEncoding, withVersion: boolean) {
  const { message, signatures, bytes } = decodeWireTransaction(Buffer.from(record.wire, 'base64'))
  const transaction = {
    base64: () => [record.wire, 'base64'],
    base58: () => [getBase58Decoder().decode(bytes), 'base58'],
    json: () => ({ signatures, message: jsonMessage(message) }),
    jsonParsed: () => ({ signatures, message: parsedMessage(message, record) }),
  }[encoding]()
  return {
    slot: record.slot,
    transaction,
    meta: transactionMeta(record, encoding, message),
    blockTime: Math.floor(record.time / 1000),
    ...(withVersion && { version: message.version }),
  }
}

function transactionMeta(record: TransactionRecord, encoding: TransactionEncoding, message: CompiledMessage) {
  const parsed = encoding === 'jsonParsed'
  const keys = addresses(message, record)
  return {
    err: record.err,
    status: record.err === null ? { Ok: null } : { Err: record.err },
    fee: record.fee,
    preBalances: record.preBalances,
    postBalances: record.postBalances,
    innerInstructions: parsed
      ? record.innerInstructions.map(({ index, instructions }) => ({
          index,
          instructions: instructions.map((instruction) => parseInstruction(instruction, keys)),
        }))
      : record.innerInstructions,
    logMessages: record.logs,
    preTokenBalances: record.preTokenBalances,
    postTokenBalances: record.postTokenBalances,
    rewards: [],
    ...(!parsed && { loadedAddresses: record.loadedAddresses }),
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

function parsedMessage(message: CompiledMessage, record: TransactionRecord) {
  const keys = addresses(message, record)
  return {
    accountKeys: accountKeys(message, record.loadedAddresses).map(({ address, ...key }) => ({
      pubkey: address,
      ...key,
    })),
    recentBlockhash: message.lifetimeToken,
    instructions: compiledInstructions(message).map((instruction) => parseInstruction(instruction, keys)),
    ...addressTableLookups(message),
  }
}

function addresses(message: CompiledMessage, { loadedAddresses }: TransactionRecord): Address[] {
  return [...message.staticAccounts, ...loadedAddresses.writable, ...loadedAddresses.readonly]
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
