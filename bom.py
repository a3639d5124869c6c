import sys
L=[f"x{i} = {i}\n" for i in range(20)]
if sys.argv[1]=='fork': L[0]="x0 = 100\n"
s=''.join(L)
if sys.argv[1]=='up': s='\ufeff'+s
open('a.py','w',newline='').write(s)
