import { getAddressDecoder } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { credentials } from '../accounts.ts'
import { listDecoder, nameAccounts, type Rule, readParameters } from '../instruction.ts'
import { resize, transfer, writeData } from '../program/effects.ts'
import { requireAuthority, requireOwned, requireProgram, requireSigner, requireWritable } from './checks.ts'

const parametersDecoder = listDecoder(getAddressDecoder())

/** A longer list costs more rent; what a shorter one would save stays in the account. */
export const changeAuthorizedSigners: Rule = ({ accounts, parameters }, { rentFor }) => {
  const authorizedSigners = readParameters(parametersDecoder, parameters)
  const { payer, authority, credential, system } = nameAccounts(accounts, 'payer', 'authority', 'credential', 'system')
  requireSigner(authority)
  requireProgram(system, SYSTEM_PROGRAM_ADDRESS)
  requireOwned(credential)
  requireWritable(credential)
  const fields = credentials.decode(credential)
  requireAuthority(authority, fields.authority)
  const data = credentials.encode({ ...fields, authorizedSigners })
  const missingRent = rentFor(data.length) - credential.lamports
  return [
    ...resize(credential, data.length),
    ...(missingRent > 0n ? transfer(payer, credential, missingRent, data.length) : []),
    ...writeData(credential, data),
  ]
}
