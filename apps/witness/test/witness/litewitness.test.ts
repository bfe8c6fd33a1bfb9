// The test scenarios of another witness (litewitness), with its keys, checkpoints and proofs.

import { forAllTests } from '@svc/devnet/for-tests'
import { startTestWitness } from '@svc/devnet/services/witness'
import { expect, it } from 'vitest'
import { post } from '../requests.ts'

const ORIGIN = 'sigsum.org/v1/tree/4d6d8825a6bb689d459628312889dfbb0bcd41b5211d9e1ce768b0ff0309e562'
const LOG = `log ${ORIGIN}+5202289b+Af/cLU2Y5BJNP+r3iMDC+av9eWCD0fBJVDfzAux5zxAP`
const OTHER = 'sigsum.org/v1/tree/985ea163f5af026723561354f51f2ebcdcf2af809ce254ccfb64aa9aadd80f90'
const OTHER_LOG = `log ${OTHER}+ec1293d2+AVLAXtrRv1/v+oE1T6rlmmVdmpoaeT7S9iw5wmwL4q7N`

const SIGNED = {
  1: 'UgIom7fPZTqpxWWhyjWduBvTvGVqsokMbqTArsQilegKoFBJQjUFAmQ0+YeSPM3wfUQMFSzVnnNuWRTYrajXpNUbIQY=',
  3: 'UgIom2VbtIcdFbwFAy1n7s6IkAxIY6J/GQOTuZF2ORV39d75cbAj2aQYwyJre36kezNobZs4SUUdrcawfAB8WVrx6go=',
  5: 'UgIomw/EOJmWi0i1FQsOj+etB7F8IccFam/jgd6wzRns4QPVmyEZtdvl1U2KEmLOZ/ASRcWJi0tW90dJWAShei7sDww=',
}
const ROOTS = {
  1: 'KgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  3: 'RcCI1Nk56ZcSmIEfIn0SleqtV7uvrlXNccFx595Iwl0=',
  5: 'QrtXrQZCCvpIgsSmOsah7HdICzMLLyDfxToMql9WTjY=',
}
const TO_3 = ['KgEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', 'KgIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=']
const WRONG_TO_3 = [TO_3[0], 'KgIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE=']
const FROM_1_TO_5 = [
  TO_3[0],
  '+fUDV+k970B4I3uKrqJM4aP1lloPZP8mvr2Z4wRw2LI=',
  'KgQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
]
const FROM_3_TO_5 = [
  TO_3[1],
  'KgMAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  'wgiIFdZfYNv6WU1OllBKsWnLYIS/DBMqt8Uh/S4OukE=',
  FROM_1_TO_5[2],
]

const body = (
  old: number,
  proof: readonly (string | undefined)[],
  size: 1 | 3 | 5,
  { origin = ORIGIN, signature = SIGNED[size] } = {},
) => [`old ${old}`, ...proof, '', origin, size, ROOTS[size], '', `— ${origin} ${signature}`, ''].join('\n')

const witness = forAllTests(() => startTestWitness([LOG, OTHER_LOG]))

it('WIT-01 the witness returns the same responses as another implementation', async () => {
  const COSIGNED = [200, expect.stringMatching(/^— witness\.example \S{104}\n$/)]
  const broken = `${SIGNED[3].slice(0, -2)}s=`
  const steps: [string, string, unknown[]][] = [
    ['a first checkpoint', body(0, [], 1), COSIGNED],
    ['a broken signature', body(1, TO_3, 3, { signature: broken }), [403, expect.any(String)]],
    ['an unknown log', body(1, TO_3, 3, { origin: ORIGIN.replace(/2$/, '1') }), [404, expect.any(String)]],
    ['an old size of zero after the first checkpoint', body(0, [], 3), [409, '1\n']],
    ['no proof', body(1, [], 3), [422, expect.any(String)]],
    ['a wrong proof', body(1, WRONG_TO_3, 3), [422, expect.any(String)]],
    ['a right proof', body(1, TO_3, 3), COSIGNED],
    ['the same checkpoint again', body(3, [], 3), COSIGNED],
    ['an old size that is past', body(1, FROM_1_TO_5, 5), [409, '3\n']],
    ['the right old size', body(3, FROM_3_TO_5, 5), COSIGNED],
    ['an older checkpoint', body(1, TO_3, 3), [409, '5\n']],
  ]
  for (const [name, request, expected] of steps) {
    const { status, text } = await post(witness.url, request)
    expect([status, text], name).toEqual(expected)
  }
})

it('WIT-02 the witness separates logs by their origin', async () => {
  const signature = '7BKT0gOfNZ1J0So9unY3BZtm2YkPIoNYM/dce0Z2avJDs8dxN6ts9bOSwwrVrbjm6P9K3ZxpK6jJngOG6YvGGzV/lwo='
  expect(await post(witness.url, body(0, [], 1, { origin: OTHER, signature }))).toMatchObject({ status: 200 })
})
