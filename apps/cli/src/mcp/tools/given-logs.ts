// The logs and witnesses that the caller of `verify` names. By default, the log in SVC_KEYS is used.

import { readAtMost, TooManyBytes } from '@svc/protocol/read-at-most'
import { fileSource } from '@svc/sdk/node'
import { type GivenLogs, readPolicy } from '@svc/verifier/log-facts'
import { readLogKey } from '@svc/verifier/pinned-keys'
import Type from 'typebox'
import { Refusal } from '../errors.ts'
import type { Root } from '../root.ts'
import { textOf } from '../stored-file.ts'

export const LogArguments = {
  policy: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'A file below the root (C2SP tlog-policy) with the logs and witnesses that the user trusts: also checks the ' +
        'public log. Never one that came with the bundle.',
    }),
  ),
  log_keys: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
      maxItems: 20,
      description: 'Instead of a policy: keys of logs that the user trusts, each name+hash+base64.',
    }),
  ),
}

export interface LogsNamed {
  policy?: string
  log_keys?: string[]
}

const MAX_POLICY_BYTES = 64 * 1024

export async function givenLogs(root: Root, { policy, log_keys = [] }: LogsNamed): Promise<GivenLogs> {
  return {
    pinnedLogs: log_keys.map(logKeyOf),
    ...(policy !== undefined && { policy: await policyIn(root, policy) }),
  }
}

function logKeyOf(text: string) {
  const key = readLogKey(text)
  if (typeof key !== 'string') return key
  throw new Refusal('bad_policy', `${JSON.stringify(text)}: ${key}`, 'Name witnesses in a `policy`')
}

async function policyIn(root: Root, path: string) {
  const file = await root.open(path)
  try {
    const text = textOf(await readAtMost(MAX_POLICY_BYTES, (await fileSource(file)).open()))
    const policy = text === null ? 'it is not text' : readPolicy(text)
    if (typeof policy !== 'string') return policy
    throw new Refusal('bad_policy', `${JSON.stringify(path)}: ${policy}`)
  } catch (error) {
    if (!(error instanceof TooManyBytes)) throw error
    throw new Refusal('bad_policy', `${JSON.stringify(path)} has ${error.message}`)
  } finally {
    await file.close()
  }
}
