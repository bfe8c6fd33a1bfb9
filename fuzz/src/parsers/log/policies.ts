// Policies: which logs and witnesses somebody trusts.

import { testKey } from '@svc/protocol/test/transparency/keys'
import { readCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { formatKey } from '@svc/protocol/transparency/note'
import { judge, readPolicy } from '@svc/protocol/transparency/policy'
import { must, type Parser, text } from '../engine/parser.ts'
import { textsIn } from './vectors.ts'

export function open(): Parser {
  const [log, first, second] = [testKey('log.example', 'log'), testKey('w1', 'cosigner'), testKey('w2', 'cosigner')]
  const [checkpointText] = textsIn('policies.json', 'checkpoint')
  const checkpoint = readCheckpoint(checkpointText ?? '')
  if (typeof checkpoint === 'string') throw new Error(checkpoint)
  const lines = [
    '# whom I trust',
    `log ${formatKey(log.key)} https://log.example`,
    `witness w1 ${formatKey(first.key)}`,
    `witness w2 ${formatKey(second.key)} https://w2.example`,
    'group both all w1 w2',
    'quorum both',
  ]
  return {
    seeds: [`${lines.join('\n')}\n`, ...textsIn('policies.json', 'policy')],
    words: [
      'log ',
      'witness ',
      'group ',
      'quorum ',
      'quorum none\n',
      'all',
      'any',
      '1',
      '2',
      ' w1',
      ' w2',
      '\n',
      '#',
      '\t',
      'none',
      '\r\n',
    ],
    maxBytes: 65_536,
    check(input) {
      const policy = readPolicy(text(input))
      if (typeof policy === 'string') return
      const { isQuorum, cosignatures, log } = judge(policy, checkpoint)
      must(policy.quorum !== null || isQuorum, 'no witness is needed, and one is missing')
      must(policy.quorum === null || !isQuorum || cosignatures.length > 0, 'nobody is a quorum')
      must(log === null || policy.logs.some(({ key }) => key === log), 'believes a log that the policy does not name')
      const words = text(input).split(/\s+/)
      for (const { key } of [...policy.logs, ...policy.witnesses])
        must(words.includes(formatKey(key)), 'trusts a key that is not there')
    },
  }
}
