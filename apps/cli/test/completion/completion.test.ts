import { rm } from 'node:fs/promises'
import { startProcess } from '@svc/devnet/start-process'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Words, wordsOf } from '../../src/completion/words.ts'
import { createProgram } from '../../src/program.ts'
import { run } from '../../src/run.ts'
import { testHost, useHome } from '../host.ts'

const home = useHome()
let words: Words[]
beforeAll(async () => {
  words = wordsOf(await createProgram(['completion'], testHost({}).host, run))
})

describe('shell completion', () => {
  it('offers commands, subcommands and options in bash, and files elsewhere', { tags: ['nightly'] }, async () => {
    const { stdout: script } = await home.svc(['completion', 'bash'])
    const complete = async (...typed: string[]) => {
      const line = `COMP_WORDS=(${typed.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${typed.length - 1}`
      const asked = `svc() { case "$*" in 'complete lockers') printf 'photos\\nmy files\\n' ;; *) echo work ;; esac; }`
      const program = `${script}\n${asked}\n${line}\n_svc\nprintf '%s\\n' "\${COMPREPLY[@]}"`
      const { code, stdout, stderr } = await startProcess('bash', { args: ['-c', program] }).ended
      expect(code, stderr).toBe(0)
      return stdout.trim().split('\n')
    }
    expect(await complete('svc', 'ver')).toEqual(['verify'])
    expect(await complete('svc', 'operators', '')).toEqual(expect.arrayContaining(['ls', 'add', 'rm', '--json']))
    expect(await complete('svc', 'operators', 'add', '--ga')).toEqual(['--gateway'])
    expect(await complete('svc', '--gateway', 'put', 'verify', '--al')).toEqual(['--allow-extra'])
    expect(await complete('svc', 'put', './dir', '--fo')).toEqual(['--follow'])
    expect(await complete('svc', 'put', '--as', '')).toEqual([''])
    expect(await complete('svc', 'upl')).toEqual(['upload'])
    expect(await complete('svc', 'download', '--dec')).toEqual(['--decrypt'])
    expect(await complete('svc', 'buy', '--asset', 'US')).toEqual(['USDC', 'USDT', 'USDT0'])
    expect(await complete('svc', 'verify', 'b.json', '--require', 'anchor_f')).toEqual(['anchor_finalized'])
    expect(await complete('svc', 'put', '-l', 'ph')).toEqual(['photos'])
    const formats = words.flatMap(({ path, options }) =>
      options.flatMap(({ flag, values }) =>
        flag === '--format' && values && 'fixed' in values ? [{ path, values }] : [],
      ),
    )
    expect(formats.length).toBeGreaterThan(1)
    for (const { path, values } of formats)
      expect(await complete('svc', ...path.split(' '), '--format', '')).toEqual(values.fixed)
    expect(await complete('svc', 'status', 'my')).toEqual(['my\\ files'])
    expect(await complete('svc', '--profile', 'w')).toEqual(['work'])
    expect(await complete('svc', 'profile', 'use', 'w')).toEqual(['work'])
    expect(await complete('svc', 'lockers', '--re')).toEqual(['--remote'])
  })

  it.each(['bash', 'zsh', 'fish'])('knows every command and option in %s', async (shell) => {
    const { stdout, exitCode } = await home.svc(['completion', shell])
    expect(exitCode).toBe(0)
    for (const { commands, options } of words) {
      for (const { name } of commands) expect(stdout).toContain(name)
      for (const { flag } of options) expect(stdout).toContain(shell === 'fish' ? `-l ${flag.slice(2)}` : flag)
    }
    expect(words.length).toBeGreaterThan(25)
  })

  it('asks for known lockers and profiles without a request', async () => {
    expect((await home.ok('complete', 'lockers')).stdout).toBe('')
    const receipt = `rcpt_${'0f'.repeat(16)}`
    await home.ok('lockers', 'add', receipt, '--name', 'my files')
    await home.ok('lockers', 'add', `rcpt_${'1f'.repeat(16)}`, '--gateway', 'https://other.example')
    expect((await home.ok('complete', 'lockers')).stdout).toBe('my files\n')
    await home.ok('profile', 'new', 'work')
    await home.ok('profile', 'use', 'work')
    await rm(home.path('config', 'svc', 'profiles', 'work'), { recursive: true })
    await home.ok('profile', 'new', 'other')
    expect((await home.ok('complete', 'profiles')).stdout).toBe('default\nother\n')
  })

  it('rejects an unsupported shell with exit code 2', async () => {
    expect((await home.svc(['completion', 'tcsh'])).exitCode).toBe(2)
  })
})
