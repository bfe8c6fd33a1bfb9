import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ConfigError, type Settings, SettingsReader, type Variables } from '../../src/program/config.ts'

const other = (fallback?: string) =>
  ({ group: 'tuning', help: 'A setting of a test', ...(fallback !== undefined && { default: fallback }) }) as const
const secret = { group: 'must set', help: 'Of a test', isSecret: true } as const
const DECLARED: Settings = {
  PORT: other('8402'),
  NAME: other('y'),
  LEVEL: other('info'),
  URL: other('http://localhost'),
  AGE: other('1'),
  LIST: other('x, y'),
  LIMITS: other('quote=30,address=60'),
  WAYS: other('off'),
  KEY: secret,
}
const PORTS = { min: 0, max: 65_535 }
const RENAMED = { DOOR: 'its name is PORT, with the same value', OLD_KEY: 'its name is KEY', NAME_FILE: 'write NAME' }
const reading = (variables: Variables) => new SettingsReader(variables, DECLARED, RENAMED)

describe('reading settings', () => {
  it('CFG-01 uses declared defaults for variables that are unset or empty', () => {
    const settings = reading({ PORT: '', NAME: 'x', LEVEL: 'warn', URL: 'https://a.example/gw/' })
    expect(settings.integer('PORT', PORTS)).toBe(8402)
    expect(settings.text('NAME')).toBe('x')
    expect(settings.oneOf('LEVEL', ['info', 'warn'])).toBe('warn')
    expect(settings.url('URL')).toBe('https://a.example/gw')
    expect(() => settings.done()).not.toThrow()
    expect([...settings.namesRead]).toEqual(['PORT', 'NAME', 'LEVEL', 'URL'])
  })

  it('CFG-01 reads nothing that is not declared', () => {
    expect(() => reading({ MISSPELT: '1' }).text('MISSPELT')).toThrow('MISSPELT is not declared')
    expect(() => reading({}).secret('NAME')).toThrow('NAME is not declared as a secret')
  })

  it('CFG-01 CRON-05 trims the entries of lists and drops empty ones', () => {
    expect(reading({ LIST: ' gold, silver ,, ' }).list('LIST')).toEqual(['gold', 'silver'])
    expect(reading({}).list('LIST')).toEqual(['x', 'y'])
    expect(reading({ LIST: ' , ' }).list('LIST')).toEqual([])
  })

  it('CFG-01 reads entries with keys, each with its default, and rejects unknown keys', () => {
    const settings = reading({ LIMITS: 'quote=5, quote = a=b,speed=1', WAYS: 'on,host=h' })
    const pairs = settings.pairs('LIMITS', ['quote', 'address'])
    expect([...pairs]).toEqual([
      ['quote', ['5', 'a=b']],
      ['address', ['60']],
    ])
    expect(settings.choice('WAYS', ['off', 'on'], ['host'])).toEqual(['on', new Map([['host', ['h']]])])
    expect(settings.problems()).toEqual([expect.stringMatching(/^LIMITS has "speed=1" that is not one of quote=…/)])
  })

  it('CFG-01 T-13 reads every secret from a file too, by one rule', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-secret-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'key')
    writeFileSync(file, 'hidden\n', { mode: 0o600 })
    expect(reading({ KEY_FILE: file }).text('KEY')).toBe('hidden')
    const both = reading({ KEY_FILE: file, KEY: 'shown' })
    both.text('KEY')
    expect(both.problems()).toEqual(['KEY and KEY_FILE are both set: remove one of them'])
    const missing = reading({ KEY_FILE: `${file}.none` })
    missing.text('KEY')
    missing.text('KEY')
    expect(missing.problems()).toEqual([expect.stringContaining('KEY_FILE cannot be read: ENOENT')])
    const text = reading({ KEY_FILE: 'shown'.repeat(1000) })
    text.text('KEY')
    expect(text.problems()).toEqual(['KEY_FILE cannot be read: write the name of a file, not what is in it'])
  })

  it('CFG-02 rejects a renamed setting and names its replacement', () => {
    expect(() => reading({ DOOR: '1' }).done()).toThrow(
      'DOOR is no longer a setting: its name is PORT, with the same value',
    )
    expect(() => reading({ OLD_KEY_FILE: '/k' }).done()).toThrow('OLD_KEY_FILE is no longer a setting: its name is KEY')
    expect(() => reading({ NAME_FILE: '/k' }).done()).toThrow('NAME_FILE is no longer a setting: write NAME')
    expect(() => reading({ DOOR: '', KEY_FILE: '' }).done()).not.toThrow()
  })

  it('CFG-01 reports all problems at once', () => {
    const settings = reading({ PORT: '70000', LEVEL: 'loud', URL: 'ftp://x', AGE: '1.5' })
    settings.integer('PORT', PORTS)
    settings.integer('AGE', { min: 0, max: 10 })
    settings.oneOf('LEVEL', ['info', 'warn'])
    settings.url('URL')
    expect(() => settings.done()).toThrow(ConfigError)
    expect(() => settings.done()).toThrow(/PORT.*AGE.*LEVEL.*URL/s)
  })
})
