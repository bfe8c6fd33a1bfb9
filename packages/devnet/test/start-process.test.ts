import { afterAll, describe, expect, it } from 'vitest'
import { type StartedProcess, startProcess } from '../src/start-process.ts'

const FOREVER = 'setInterval(() => {}, 1000)'
const run = (script: string) => startProcess(process.execPath, { args: ['-e', script] })

describe('a started process', () => {
  it('says each line once, from both outputs and in any order, and logs JSON', async () => {
    const process = run(
      `console.log('{"msg":"at 1"}'); console.error('an error'); console.log('{"msg":"at 2"}'); ${FOREVER}`,
    )
    expect(await process.said(/at (2)/)).toMatchObject({ 1: '2' })
    expect((await process.said(/at (\d)/))[1]).toBe('1')
    await process.said(/error/)
    expect(process.log()).toEqual([{ msg: 'at 1' }, { msg: 'at 2' }])
    const { code, signal, stderr } = await process.kill('SIGTERM')
    expect([code, signal, stderr]).toEqual([null, 'SIGTERM', 'an error\n'])
    await expect(process.said(/at/)).rejects.toThrow('ended with SIGTERM before it said /at/:\n{"msg":"at 1"}')
  })

  it('ends with all of its group, if it has one of its own', async () => {
    const { ended } = startProcess('sh', { args: ['-c', 'sleep 1000 & echo started'], isGroup: true })
    // The other process would keep the output open.
    expect(await ended).toMatchObject({ code: 0, stdout: 'started\n' })
  })
})

describe('a process that a test leaves running', () => {
  let left: StartedProcess
  afterAll(async () => expect(await left.ended).toMatchObject({ signal: 'SIGKILL' }))

  it('is killed at the end of the test', async () => {
    left = run(`console.log('started'); ${FOREVER}`)
    expect(await left.said(/started/)).toHaveLength(1)
  })
})
