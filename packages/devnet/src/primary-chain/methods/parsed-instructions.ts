import {
  AccountRole,
  type Address,
  getBase58Encoder,
  type Instruction,
  type InstructionWithAccounts,
  type InstructionWithData,
  type ReadonlyUint8Array,
} from '@solana/kit'
import { SUPPORTED_MEMO_PROGRAM_ADDRESSES } from '@solana-program/memo'
import { parseSystemInstruction, SYSTEM_PROGRAM_ADDRESS, SystemInstruction } from '@solana-program/system'
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  AssociatedTokenInstruction,
  parseAssociatedTokenInstruction,
  parseTokenInstruction,
  TOKEN_PROGRAM_ADDRESS,
  TokenInstruction,
} from '@solana-program/token'
import { uiTokenAmount } from '../transactions/accounts.ts'
import type { CompiledInstruction } from '../transactions/execute.ts'

type FullInstruction = Instruction &
  InstructionWithAccounts<readonly { address: Address; role: AccountRole }[]> &
  InstructionWithData<ReadonlyUint8Array>

interface Parsed {
  readonly program: string
  readonly parsed: string | { readonly type: string; readonly info: object }
}

/** `jsonParsed` for the instructions that payments use; any other stays partially decoded, as on a real node. */
export function parseInstruction(compiled: CompiledInstruction, keys: readonly Address[]) {
  const { stackHeight, data } = compiled
  const programId = keys[compiled.programIdIndex]!
  const accounts = compiled.accounts.map((index) => keys[index]!)
  const parsed = parse({
    programAddress: programId,
    accounts: accounts.map((address) => ({ address, role: AccountRole.READONLY })),
    data: getBase58Encoder().encode(data),
  })
  return parsed ? { ...parsed, programId, stackHeight } : { accounts, data, programId, stackHeight }
}

function parse(instruction: FullInstruction): Parsed | null {
  const { programAddress } = instruction
  try {
    if (programAddress === SYSTEM_PROGRAM_ADDRESS) return parseSystem(instruction)
    if (programAddress === TOKEN_PROGRAM_ADDRESS) return parseToken(instruction)
    if (programAddress === ASSOCIATED_TOKEN_PROGRAM_ADDRESS) return parseAssociatedToken(instruction)
    if (SUPPORTED_MEMO_PROGRAM_ADDRESSES.some((memo) => memo === programAddress))
      return {
        program: 'spl-memo',
        parsed: new TextDecoder('utf-8', { fatal: true }).decode(instruction.data as Uint8Array),
      }
  } catch {
    // The parsers throw at unknown or truncated instructions.
  }
  return null
}

function parseSystem(instruction: FullInstruction): Parsed | null {
  const { instructionType, accounts, data } = parseSystemInstruction(instruction)
  const as = (type: string, info: object) => ({ program: 'system', parsed: { type, info } })
  switch (instructionType) {
    case SystemInstruction.TransferSol:
      return as('transfer', {
        source: accounts.source.address,
        destination: accounts.destination.address,
        lamports: data.amount,
      })
    case SystemInstruction.CreateAccount:
      return as('createAccount', {
        source: accounts.payer.address,
        newAccount: accounts.newAccount.address,
        lamports: data.lamports,
        space: data.space,
        owner: data.programAddress,
      })
    default:
      return null
  }
}

function parseToken(instruction: FullInstruction): Parsed | null {
  const token = parseTokenInstruction(instruction)
  const as = (type: string, info: object) => ({ program: 'spl-token', parsed: { type, info } })
  switch (token.instructionType) {
    case TokenInstruction.Transfer:
      return as('transfer', {
        source: token.accounts.source.address,
        destination: token.accounts.destination.address,
        amount: token.data.amount.toString(),
        authority: token.accounts.authority.address,
      })
    case TokenInstruction.TransferChecked:
      return as('transferChecked', {
        source: token.accounts.source.address,
        mint: token.accounts.mint.address,
        destination: token.accounts.destination.address,
        tokenAmount: uiTokenAmount(token.data.amount, token.data.decimals),
        authority: token.accounts.authority.address,
      })
    case TokenInstruction.MintToChecked:
      return as('mintToChecked', {
        mint: token.accounts.mint.address,
        account: token.accounts.token.address,
        tokenAmount: uiTokenAmount(token.data.amount, token.data.decimals),
        mintAuthority: token.accounts.mintAuthority.address,
      })
    default:
      return null
  }
}

function parseAssociatedToken(instruction: FullInstruction): Parsed | null {
  const { instructionType, accounts } = parseAssociatedTokenInstruction(instruction)
  if (instructionType === AssociatedTokenInstruction.RecoverNestedAssociatedToken) return null
  const type = instructionType === AssociatedTokenInstruction.CreateAssociatedToken ? 'create' : 'createIdempotent'
  const info = {
    source: accounts.payer.address,
    account: accounts.ata.address,
    wallet: accounts.owner.address,
    mint: accounts.mint.address,
    systemProgram: accounts.systemProgram.address,
    tokenProgram: accounts.tokenProgram.address,
  }
  return { program: 'spl-associated-token-account', parsed: { type, info } }
}
