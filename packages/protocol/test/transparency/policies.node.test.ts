// Policies of trusted logs and witnesses.

import { problemWith } from '@svc/devnet/properties/made-up-input'
import { must, text } from '@svc/devnet/properties/rules'
import { expect, it } from 'vitest'
import { readCheckpoint } from '../../src/transparency/checkpoint.ts'
import { formatKey } from '../../src/transparency/note.ts'
import { judge, readPolicy } from '../../src/transparency/policy.ts'
import { testKey } from './keys.ts'
import { textsIn } from './vector-texts.ts'

it('T-129 T-52 no made-up input breaks the rules of policies', async () => {
  const [log, first, second] = [testKey('log.example', 'log'), testKey('w1', 'cosigner'), testKey('w2', 'cosigner')]
  const [checkpointText] = textsIn('policies.json', 'checkpoint')
  const checkpoint = readCheckpoint(checkpointText ?? '')
  if (typeof checkpoint === 'string') throw new Error(checkpoint)
  const lines = [
    '# the logs and witnesses that I trust',
    `log ${formatKey(log.key)} https://log.example`,
    `witness w1 ${formatKey(first.key)}`,
    `witness w2 ${formatKey(second.key)} https://w2.example`,
    'group both all w1 w2',
    'quorum both',
  ]
  expect(
    await problemWith({
      examples: [`${lines.join('\n')}\n`, ...textsIn('policies.json', 'policy')],
      words: [
        ...'all any 1 2 \n # \t none \r\n'.split(' '),
        'log ',
        'witness ',
        'group ',
        'quorum ',
        'quorum none\n',
        ' w1',
        ' w2',
      ],
      maxBytes: 65_536,
      rule(input) {
        const policy = readPolicy(text(input))
        if (typeof policy === 'string') return
        const { isQuorum, cosignatures, log } = judge(policy, checkpoint)
        must(policy.quorum !== null || isQuorum, 'the quorum fails although no witness is needed')
        must(policy.quorum === null || !isQuorum || cosignatures.length > 0, 'the quorum is met without a cosignature')
        must(log === null || policy.logs.some(({ key }) => key === log), 'accepts a log that the policy does not name')
        const words = text(input).split(/\s+/)
        for (const { key } of [...policy.logs, ...policy.witnesses])
          must(words.includes(formatKey(key)), 'trusts a key that the policy does not contain')
      },
    }),
  ).toBeNull()
})
