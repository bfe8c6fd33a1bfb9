#!/usr/bin/env node
import { launch } from '../../../scripts/launch.mjs'

await launch(new URL('../src/main.ts', import.meta.url))
