import { getAddressDecoder, getStructDecoder } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { credentials, sizedBytes } from '../accounts.ts'
import { addressBytes, deriveAddress } from '../derived-address.ts'
import { listDecoder, nameAccounts, type Rule, readParameters } from '../instruction.ts'
import { requireAddress, requireProgram, requireSigner, requireVacant } from './checks.ts'
import { makeAccount } from './make-account.ts'

const parametersDecoder = getStructDecoder([
  ['name', sizedBytes()],
  ['signers', listDecoder(getAddressDecoder())],
])

export const createCredential: Rule = ({ accounts, parameters }, surroundings) => {
  const { name, signers } = readParameters(parametersDecoder, parameters)
  const { payer, credential, authority, system } = nameAccounts(accounts, 'payer', 'credential', 'authority', 'system')
  requireVacant(credential)
  requireSigner(authority)
  requireProgram(system, SYSTEM_PROGRAM_ADDRESS)
  const derived = deriveAddress('credential', addressBytes(authority.address), Uint8Array.from(name))
  requireAddress(credential, derived.address, 'InvalidCredential')
  const data = credentials.encode({ authority: authority.address, name, authorizedSigners: signers })
  return makeAccount(payer, credential, derived, data, surroundings)
}
