import { lastValidBlockHeight } from '../blockhashes.ts'
import type { PrimaryChain } from '../chain.ts'
import type { View } from '../commitments.ts'
import { type Config, configAt, flag, listAt, readAddress, readConfig, textAt, viewFor } from '../params.ts'
import { invalidParams, RPC_CODES, RpcError } from '../rpc-error.ts'
import type { SimulatedTransaction } from '../submit.ts'
import { feeOf } from '../transaction-fee.ts'
import { present } from './accounts.ts'
import { inContext, type Methods } from './method.ts'
import { readWireTransaction } from './read-wire-transaction.ts'

export const simulationMethods: Methods = {
  simulateTransaction(chain, params) {
    const config = configAt(params, 1)
    const wire = readWireTransaction(textAt(params, 0), config)
    const sigVerify = flag(config, 'sigVerify')
    const replaceRecentBlockhash = flag(config, 'replaceRecentBlockhash')
    if (sigVerify && replaceRecentBlockhash)
      throw invalidParams('sigVerify may not be used with replaceRecentBlockhash')
    const view = viewFor(chain, config)
    const refusal = replaceRecentBlockhash ? null : chain.refusal(wire, view)
    const simulation = chain.simulate(wire, sigVerify)
    if (simulation.err === 'SignatureFailure')
      throw new RpcError(RPC_CODES.signatureVerificationFailure, 'Transaction signature verification failure')
    const ran = refusal === null
    return inContext(view, {
      err: refusal ?? simulation.err,
      logs: ran ? simulation.logs : [],
      accounts: accountsAfter(chain, view, config, ran ? simulation : null),
      unitsConsumed: ran ? simulation.unitsConsumed : 0,
      returnData: ran ? simulation.returnData : null,
      innerInstructions: ran && flag(config, 'innerInstructions') ? simulation.innerInstructions : null,
      replacementBlockhash: replaceRecentBlockhash ? replacement(chain, view) : null,
      fee: ran ? feeOf(wire.message) : null,
      preBalances: ran ? simulation.preBalances : null,
      postBalances: ran ? simulation.postBalances : null,
      preTokenBalances: ran ? simulation.preTokenBalances : null,
      postTokenBalances: ran ? simulation.postTokenBalances : null,
      loadedAddresses: ran ? simulation.loadedAddresses : null,
    })
  },
}

function replacement(chain: PrimaryChain, view: View) {
  const issued = chain.latestBlockhash(view)
  return { blockhash: issued.blockhash, lastValidBlockHeight: lastValidBlockHeight(issued) }
}

function accountsAfter(chain: PrimaryChain, view: View, config: Config, simulation: SimulatedTransaction | null) {
  if (config.accounts === undefined || config.accounts === null) return null
  const wanted = readConfig(config.accounts, 'accounts')
  const addresses = listAt([wanted.addresses], 0, 100).map(readAddress)
  if (wanted.encoding === 'base58' || wanted.encoding === 'binary') throw invalidParams('base58 encoding not supported')
  const encode = present(chain, view, wanted, 'base64')
  if (simulation === null || simulation.err !== null) return addresses.map(() => null)
  const simulated = simulation.accountsAfter()
  return addresses.map((address) => {
    const account = simulated.get(address) ?? chain.account(address, view)
    return account?.lamports === 0n ? null : encode(account)
  })
}
