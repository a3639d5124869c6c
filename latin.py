import sys
L=[f"# zeile {i} äöü\nx{i} = {i}\n" for i in range(20)]
if sys.argv[1]=='fork': L[5]="# zeile 5 äöü\nx5 = 'ß'\n"
s=''.join(L)
open('a.py','wb').write(s.encode('utf-8' if sys.argv[1]=='up' else 'latin-1'))
