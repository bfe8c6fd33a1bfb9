// What a program can do to accounts, as code for the chain's virtual machine.

import { type Address, getAddressEncoder } from '@solana/kit'
import {
  getAllocateInstructionDataEncoder,
  getAssignInstructionDataEncoder,
  getCreateAccountInstructionDataEncoder,
  getTransferSolInstructionDataEncoder,
  SYSTEM_PROGRAM_ADDRESS,
} from '@solana-program/system'
import { type ProgramFailure, resultOf } from '../failure.ts'
import { addWord, type Code, call, exit, storeBytes } from './assembler.ts'
import { invoke } from './invoke.ts'
import { FIELDS, HEAP, type ProgramAccount } from './memory.ts'

interface NewAccount {
  readonly payer: ProgramAccount
  readonly account: ProgramAccount
  readonly owner: Address
  readonly seeds: readonly Uint8Array[]
  readonly space: number
  readonly rent: bigint
}

/** Lamports already at the address count towards the rent, but then the account must be created step by step. */
export function createAccount({ payer, account, owner, seeds, space, rent }: NewAccount): Code {
  const program = SYSTEM_PROGRAM_ADDRESS
  const role = { signer: true, writable: true } as const
  if (account.lamports === 0n) {
    const data = getCreateAccountInstructionDataEncoder().encode({ lamports: rent, space, programAddress: owner })
    const accounts = [
      { account: payer, ...role },
      { account, ...role },
    ]
    return invoke({ program, accounts, data: bytes(data), seeds })
  }
  const allocate = getAllocateInstructionDataEncoder().encode({ space })
  const assign = getAssignInstructionDataEncoder().encode({ programAddress: owner })
  return [
    ...(account.lamports < rent ? transfer(payer, account, rent - account.lamports) : []),
    ...invoke({ program, accounts: [{ account, ...role }], data: bytes(allocate), seeds }),
    ...invoke({ program, accounts: [{ account, ...role, dataLength: space }], data: bytes(assign), seeds }),
  ]
}

export function transfer(
  from: ProgramAccount,
  to: ProgramAccount,
  amount: bigint,
  toDataLength = to.data.length,
): Code {
  const accounts = [
    { account: from, signer: true, writable: true },
    { account: to, signer: false, writable: true, dataLength: toDataLength },
  ]
  const data = bytes(getTransferSolInstructionDataEncoder().encode({ amount }))
  return invoke({ program: SYSTEM_PROGRAM_ADDRESS, accounts, data })
}

export function writeData(account: ProgramAccount, data: Uint8Array): Code {
  return storeBytes(account.at + FIELDS.data, data)
}

export function resize(account: ProgramAccount, space: number): Code {
  return storeBytes(account.at + FIELDS.dataLength, word(BigInt(space)))
}

/** Moves all lamports to another account and returns the empty account to the system program. */
export function closeAccount(account: ProgramAccount, recipient: ProgramAccount): Code {
  return [
    ...addWord(recipient.at + FIELDS.lamports, account.at + FIELDS.lamports),
    ...storeBytes(account.at + FIELDS.owner, bytes(getAddressEncoder().encode(SYSTEM_PROGRAM_ADDRESS))),
    ...storeBytes(account.at + FIELDS.lamports, word(0n)),
    ...resize(account, 0),
  ]
}

export function fail({ failure, message }: ProgramFailure): Code {
  const text = Buffer.from(message)
  const log = [...storeBytes(HEAP, text), ...call('sol_log_', HEAP, BigInt(text.length))]
  return [...log, ...(failure === 'Panic' ? call('abort') : exit(resultOf(failure)))]
}

function word(value: bigint): Uint8Array {
  return new Uint8Array(BigUint64Array.of(value).buffer)
}

function bytes(encoded: ArrayLike<number>): Uint8Array {
  return Uint8Array.from(encoded)
}
