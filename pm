#!/work/h/venv-absorb/bin/python
import sys; sys.path.insert(0,'/work/h/absorb-wt')
from patchmgr.cli import main
import patchmgr; assert patchmgr.__file__.startswith('/work/h/absorb-wt')
main()
